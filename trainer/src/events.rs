//! Event files, as TensorBoard reads them.
//!
//! A file is a row of TFRecords (length, checksum of the length, data, checksum of the data); each holds an `Event` in
//! the encoding of Protocol Buffers. Of its many fields a curve needs four, so they are written by hand here:
//! `wall_time` = 1, `step` = 2, `file_version` = 3, `summary` = 5 with one `value` = 1 of `tag` = 1 and
//! `simple_value` = 2 (tensorflow/core/util/event.proto, tensorflow/core/framework/summary.proto).

/// The file version that event files of scalars have had since 2015.
const VERSION: &str = "brain.Event:2";

/// An event file that grows in memory.
#[derive(Clone, Debug)]
pub(crate) struct Events {
    bytes: Vec<u8>,
}

impl Events {
    /// An empty file, made at a time in seconds since 1970.
    pub(crate) fn new(time: f64) -> Events {
        let mut events = Events { bytes: Vec::new() };
        let mut event = Vec::new();
        put_double(&mut event, 1, time);
        put_bytes(&mut event, 3, VERSION.as_bytes());
        events.put_record(&event);
        events
    }

    /// Adds a point to the curve `tag`.
    pub(crate) fn scalar(&mut self, time: f64, step: u64, tag: &str, value: f32) {
        let mut point = Vec::new();
        put_bytes(&mut point, 1, tag.as_bytes());
        put_float(&mut point, 2, value);
        let mut summary = Vec::new();
        put_bytes(&mut summary, 1, &point);
        let mut event = Vec::new();
        put_double(&mut event, 1, time);
        put_number(&mut event, 2, step);
        put_bytes(&mut event, 5, &summary);
        self.put_record(&event);
    }

    /// The file so far.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    fn put_record(&mut self, data: &[u8]) {
        let length = (data.len() as u64).to_le_bytes();
        self.bytes.extend(length);
        self.bytes.extend(masked(crc32c(&length)).to_le_bytes());
        self.bytes.extend(data);
        self.bytes.extend(masked(crc32c(data)).to_le_bytes());
    }
}

/// Protocol Buffers give a field a key of its number and its wire type, and whole numbers seven bits a byte, lowest
/// first.
fn put_key(to: &mut Vec<u8>, field: u8, wire_type: u8) {
    to.push(field << 3 | wire_type);
}

fn put_varint(to: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        to.push(number as u8 | 0x80);
        number >>= 7;
    }
    to.push(number as u8);
}

fn put_number(to: &mut Vec<u8>, field: u8, number: u64) {
    put_key(to, field, 0);
    put_varint(to, number);
}

fn put_double(to: &mut Vec<u8>, field: u8, number: f64) {
    put_key(to, field, 1);
    to.extend(number.to_le_bytes());
}

fn put_bytes(to: &mut Vec<u8>, field: u8, bytes: &[u8]) {
    put_key(to, field, 2);
    put_varint(to, bytes.len() as u64);
    to.extend(bytes);
}

fn put_float(to: &mut Vec<u8>, field: u8, number: f32) {
    put_key(to, field, 5);
    to.extend(number.to_le_bytes());
}

/// CRC-32C (Castagnoli), lowest bit first. Logs are small, so bit by bit is fast enough.
fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| crc >> 1 ^ if crc & 1 == 1 { 0x82f6_3b78 } else { 0 })
    })
}

/// TFRecord stores checksums rotated and shifted, so that a checksum of data with checksums in it stays one
/// (tensorflow/core/lib/hash/crc32c.h).
fn masked(crc: u32) -> u32 {
    crc.rotate_right(15).wrapping_add(0xa282_ead8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_those_of_the_standard() {
        // RFC 3720, B.4, and the usual check value.
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c(&[0xff; 32]), 0x62a8_ab43);
    }

    #[test]
    fn events_of_one_scalar_have_known_bytes() {
        let mut events = Events::new(1.5);
        events.scalar(2.0, 300, "a", 0.5);
        let bytes = events.into_bytes();
        // wall_time 1.5, file_version.
        let first = [&[9, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f, 0x1a, 13][..], b"brain.Event:2"].concat();
        // wall_time 2.0, step 300, summary { value { tag "a", simple_value 0.5 } }.
        let point = [0x0a, 1, b'a', 0x15, 0, 0, 0, 0x3f];
        let second = [&[9, 0, 0, 0, 0, 0, 0, 0, 0x40, 0x10, 0xac, 2, 0x2a, 10, 0x0a, 8][..], &point[..]].concat();
        assert_eq!(bytes.len(), 2 * 16 + first.len() + second.len());
        assert_eq!(bytes[..8], (first.len() as u64).to_le_bytes());
        assert_eq!(bytes[12..12 + first.len()], first);
        assert_eq!(bytes[16 + first.len() + 12..][..second.len()], second);
        assert_eq!(bytes[bytes.len() - 4..], masked(crc32c(&second)).to_le_bytes());
    }
}
