//! Which sequences of two to four bytes a text has: a bitmap that says "no" for certain and "maybe" otherwise.

/// The bitmap; a power of two bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Signature(Box<[u8]>);

/// The short ones are there for short words; in running text they add a tenth to the bits set.
const LENGTHS: [usize; 3] = [4, 3, 2];
const SMALLEST: usize = 32;
const LARGEST: usize = 1 << 16;

/// A sequence of bytes: its bytes in small letters, filled up with 255, which no UTF-8 text has.
pub(super) type Gram = u32;

impl Signature {
    /// Of a text; letters of ASCII count as small ones.
    pub(super) fn of(text: &[u8]) -> Self {
        // About a bit a byte: in running text less than a third of the bits is set then.
        let size = (text.len() / 8).next_power_of_two().clamp(SMALLEST, LARGEST);
        let mut bits = vec![0_u8; size].into_boxed_slice();
        for length in LENGTHS {
            for window in text.windows(length) {
                let slot = slot(gram(window), size);
                bits[slot / 8] |= 1 << (slot % 8);
            }
        }
        Self(bits)
    }

    pub(super) fn from_bytes(bytes: Box<[u8]>) -> Self {
        Self(bytes)
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// May the text have all of these sequences?
    pub(super) fn admits(&self, grams: &[Gram]) -> bool {
        let size = self.0.len();
        size.is_power_of_two()
            && grams.iter().all(|gram| {
                let slot = slot(*gram, size);
                self.0[slot / 8] & (1 << (slot % 8)) != 0
            })
    }
}

/// The sequences that a text with `word` in it has for certain. `is_sure`: is a sequence the same
/// however the word is written?
pub(super) fn grams(word: &[u8], is_sure: impl Fn(&[u8]) -> bool) -> Vec<Gram> {
    let windows = LENGTHS.into_iter().flat_map(|length| word.windows(length));
    windows.filter(|window| is_sure(window)).map(gram).collect()
}

fn gram(window: &[u8]) -> Gram {
    let mut bytes = [u8::MAX; 4];
    for (byte, given) in bytes.iter_mut().zip(window) {
        *byte = given.to_ascii_lowercase();
    }
    Gram::from_le_bytes(bytes)
}

fn slot(gram: Gram, size: usize) -> usize {
    (gram.wrapping_mul(0x9E37_79B1) >> 8) as usize & (size * 8 - 1)
}
