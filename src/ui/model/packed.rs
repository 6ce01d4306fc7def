//! Values that can be kept small: compressed while nobody looks, whole again when somebody does.
//!
//! A long session is mostly text that is far above the window. Packing is not seen from outside: a
//! packed value is equal to itself unpacked, and reading it unpacks it.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::OnceLock;

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress};

use crate::message::ToolReturn;

/// Below so many bytes packing saves nothing.
const WORTH: usize = 256;

/// What can be packed.
pub trait Pack: Clone + Default {
    /// As bytes that [`from_bytes`](Pack::from_bytes) reads; none when they cannot be made.
    fn to_bytes(&self) -> Option<Cow<'_, [u8]>>;
    /// From those bytes.
    fn from_bytes(bytes: Vec<u8>) -> Option<Self>;
}

impl Pack for String {
    fn to_bytes(&self) -> Option<Cow<'_, [u8]>> {
        Some(Cow::Borrowed(self.as_bytes()))
    }

    fn from_bytes(bytes: Vec<u8>) -> Option<Self> {
        Self::from_utf8(bytes).ok()
    }
}

impl Pack for ToolReturn {
    fn to_bytes(&self) -> Option<Cow<'_, [u8]>> {
        serde_json::to_vec(self).ok().map(Cow::Owned)
    }

    fn from_bytes(bytes: Vec<u8>) -> Option<Self> {
        serde_json::from_slice(&bytes).ok()
    }
}

/// A value and, once it was packed, its small form.
#[derive(Clone, Default)]
pub struct Packed<T> {
    value: OnceLock<T>,
    small: Option<Box<[u8]>>,
    /// Bytes of the value unpacked; what `small` was made of.
    size: usize,
}

impl<T: Pack> Packed<T> {
    /// Makes it small, and says how many bytes that was work for: none if it was small already.
    pub fn pack(&mut self) -> usize {
        let Some(value) = self.value.get() else { return 0 };
        let mut work = 0;
        if self.small.is_none() {
            let Some(bytes) = value.to_bytes() else { return 0 };
            if bytes.len() < WORTH {
                return 0;
            }
            work = bytes.len();
            self.small = deflate(&bytes);
            self.size = bytes.len();
        }
        if self.small.is_some() {
            self.value.take();
        }
        work
    }

    /// The value for one look: what was packed stays packed.
    #[must_use]
    pub fn peek(&self) -> Cow<'_, T> {
        match self.value.get() {
            Some(value) => Cow::Borrowed(value),
            None => Cow::Owned(self.unpacked()),
        }
    }

    /// Is it packed now?
    #[must_use]
    pub fn is_packed(&self) -> bool {
        self.value.get().is_none()
    }

    fn unpacked(&self) -> T {
        let small = self.small.as_deref();
        small.and_then(|small| T::from_bytes(inflate(small, self.size)?)).unwrap_or_default()
    }
}

impl Packed<String> {
    /// Bytes of the text; costs nothing.
    #[must_use]
    pub fn len(&self) -> usize {
        self.value.get().map_or(self.size, String::len)
    }

    /// Is there no text?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T: Pack> Deref for Packed<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.value.get_or_init(|| self.unpacked())
    }
}

impl<T: Pack> DerefMut for Packed<T> {
    fn deref_mut(&mut self) -> &mut T {
        if self.value.get().is_none() {
            self.value = OnceLock::from(self.unpacked());
        }
        // It is about to change.
        self.small = None;
        let Some(value) = self.value.get_mut() else { unreachable!("it was set just now") };
        value
    }
}

impl<T> From<T> for Packed<T> {
    fn from(value: T) -> Self {
        Self { value: OnceLock::from(value), small: None, size: 0 }
    }
}

impl From<&str> for Packed<String> {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

impl<T: Pack + PartialEq> PartialEq for Packed<T> {
    fn eq(&self, other: &Self) -> bool {
        *self.peek() == *other.peek()
    }
}

impl<T: Pack + fmt::Debug> fmt::Debug for Packed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.peek().fmt(f)
    }
}

thread_local! {
    // Its tables are large; a cell is small.
    static PACKER: RefCell<Compress> = RefCell::new(Compress::new(Compression::fast(), false));
}

fn deflate(bytes: &[u8]) -> Option<Box<[u8]>> {
    PACKER.with_borrow_mut(|packer| {
        packer.reset();
        // Room for what does not get smaller.
        let mut small = Vec::with_capacity(bytes.len() + bytes.len() / 16 + 64);
        let status = packer.compress_vec(bytes, &mut small, FlushCompress::Finish).ok()?;
        let is_whole = status == flate2::Status::StreamEnd;
        (is_whole && small.len() < bytes.len()).then(|| small.as_slice().into())
    })
}

fn inflate(small: &[u8], size: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(size);
    let mut reader = Decompress::new(false);
    reader.decompress_vec(small, &mut bytes, FlushDecompress::Finish).ok()?;
    (bytes.len() == size).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_long_text_gets_small_and_comes_back_for_one_look_or_for_good() {
        let text = "fn main() { println!(\"日本\"); }\n".repeat(100);
        let mut packed = Packed::from(text.clone());
        assert_eq!(packed.pack(), text.len());
        assert!(packed.is_packed() && packed.small.as_ref().is_some_and(|s| s.len() < 300));
        assert_eq!((packed.len(), packed.peek().as_str()), (text.len(), text.as_str()));
        assert!(packed.is_packed(), "a look leaves it small");
        assert!(packed.clone() == Packed::from(text.clone()) && packed.is_packed());
        assert_eq!(packed.as_str(), text);
        assert!(!packed.is_packed());
        assert_eq!(packed.pack(), 0, "no work: it did not change");
        packed.push('x');
        assert_eq!((packed.len(), packed.pack()), (text.len() + 1, text.len() + 1));
        assert_eq!(packed.as_str(), text + "x");
    }

    #[test]
    fn what_is_short_or_noise_stays_as_it_is() {
        let mut short: Packed<String> = Packed::from("short");
        assert_eq!((short.pack(), short.is_packed()), (0, false));
        let mut seed = 1_u32;
        let noise: String = (0..400)
            .map(|_| {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                char::from_u32(0x1_0000 + (seed >> 12)).unwrap_or('x')
            })
            .collect();
        let mut packed = Packed::from(noise.clone());
        packed.pack();
        assert_eq!(packed.as_str(), noise);
    }

    proptest! {
        #[test]
        fn results_come_back_as_they_were(text in "\\PC{0,400}", message in ".{0,80}") {
            let result = ToolReturn::ok(text.repeat(3), message);
            let mut packed = Packed::from(result.clone());
            packed.pack();
            prop_assert_eq!(&*packed, &result);
        }
    }
}
