//! Which four-byte sequences a text has: a bitmap that says "no" for certain and "maybe" otherwise.

/// The bitmap; a power of two bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Signature(Box<[u8]>);

/// Bytes of a sequence.
const GRAM: usize = 4;
const SMALLEST: usize = 32;
const LARGEST: usize = 1 << 16;

impl Signature {
    /// Of a text; letters of ASCII count as small ones.
    pub(super) fn of(text: &[u8]) -> Self {
        // About a bit a byte: in running text a quarter of the bits is set then.
        let size = (text.len() / 8).next_power_of_two().clamp(SMALLEST, LARGEST);
        let mut bits = vec![0_u8; size].into_boxed_slice();
        for gram in grams(text) {
            let slot = slot(gram, size);
            bits[slot / 8] |= 1 << (slot % 8);
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
    pub(super) fn admits(&self, grams: &[u32]) -> bool {
        let size = self.0.len();
        size.is_power_of_two()
            && grams.iter().all(|gram| {
                let slot = slot(*gram, size);
                self.0[slot / 8] & (1 << (slot % 8)) != 0
            })
    }
}

/// The sequences of a text.
pub(super) fn grams(text: &[u8]) -> impl Iterator<Item = u32> + '_ {
    text.windows(GRAM).map(|window| {
        let mut gram = [0; GRAM];
        gram.copy_from_slice(window);
        gram.make_ascii_lowercase();
        u32::from_le_bytes(gram)
    })
}

fn slot(gram: u32, size: usize) -> usize {
    (gram.wrapping_mul(0x9E37_79B1) >> 8) as usize & (size * 8 - 1)
}
