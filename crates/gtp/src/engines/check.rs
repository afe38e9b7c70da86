//! The output of a program without a process, for tests and the fuzz target of engines.

use go::{Move, Size};

use super::player::margin;
use super::responses::ResponseParser;

/// The move and Black's margin that are read in each response of a program's output, until a response is too long.
pub fn read_output(output: &[u8], size: Size) -> Vec<(Option<Move>, Option<f32>)> {
    let mut parser = ResponseParser::default();
    let lines = output.split(|byte| *byte == b'\n').map_while(|line| parser.line(line).ok());
    let texts = lines.flatten().filter_map(|response| response.text.ok());
    texts.map(|text| (Move::from_gtp(size, text.trim()), margin(text.trim()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_has_a_move_or_a_margin_for_each_response() {
        let size = Size::new(9).expect("a size");
        let found = read_output(b"hello\n=1 D4\n\n? illegal move\n\n=3 W+3.5 (upper bound)\r\n\n= resign\n\n", size);
        assert_eq!(found, [(Move::from_gtp(size, "D4"), None), (None, Some(-3.5)), (None, None)]);
        assert_eq!(read_output(&[b'x'; 2 << 20], size), []);
    }
}
