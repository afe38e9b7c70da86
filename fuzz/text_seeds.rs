//! Texts that targets begin with.

use analysis::Report;

use crate::analysed;

/// A target, the name of a file, and the text in it.
pub const TEXTS: &[(&str, &str, &str)] = &[
    ("page_message", "start", r#"{"id":1,"do":{"start":{"size":9,"komi":0.5,"handicap":2}}}"#),
    ("page_message", "analyze", r#"{"id":2,"do":{"analyze":{"game":{"size":9,"komi":7,"initialStones":[["B","C3"]],"initialPlayer":"W","moves":[["W","E5"],["B","pass"]]},"model":"9x9-demo","visits":100}}}"#),
    ("page_message", "open", r#"{"id":3,"do":{"open":{"sgf":"(;SZ[3];B[bb](;W[aa];B[ab])(;W[cc]C[a]))"}}}"#),
    ("page_message", "score", r#"{"id":4,"do":{"score":{"game":{"size":9,"komi":7},"dead":["E5"],"model":"v1-2"}}}"#),
    ("page_message", "genmove", r#"{"id":5,"do":{"genmove":{"game":{"size":9,"komi":7},"model":"v1-2","visits":9,"seconds":1.5,"resign":-0.9,"awaited":true,"draw":7}}}"#),
    ("page_message", "position", r#"{"id":6,"do":{"position":{"game":{"size":3,"komi":7,"moves":[["B","B2"],["W","pass"]]}}}}"#),
    ("page_message", "planes", r#"{"id":7,"do":{"planes":{"game":{"size":9,"komi":7},"model":"v1-2"}}}"#),
    ("page_message", "predict", r#"{"id":8,"do":{"predict":{"game":{"size":9,"komi":7,"moves":[["B","E5"]]},"model":"9x9-demo"}}}"#),
    ("page_message", "save", r#"{"id":9,"do":{"save":{"game":{"size":9,"komi":7,"moves":[["B","E5"]]},"model":"v1-2","visits":9,"black":"a","result":"B+R"}}}"#),
    ("page_message", "save-tree", r#"{"id":10,"do":{"save":{"game":{"size":3,"komi":7},"comment":"a","tree":[{"played":["B","B2"]},{"parent":0,"played":["W","A1"],"comment":"b"},{"parent":0,"played":["W","pass"]}]}}}"#),
    ("page_message", "stop", r#"{"id":11,"do":{"stop":{"id":3}}}"#),
    ("page_message", "search", "kind=match&model=3&player=v1-2%2Bvisits%3D8&result=black&end=passes&least=10&most=80&calibration=yes&threshold=no&opening=C3%20e5&after=games/7/w-0000000000005&rows=4"),
    ("page_message", "compare", "run=v15&run=9x9-demo&plot=elo&plot=policy-loss&scale=log"),
    ("page_message", "values", r#"{"curves":[{"name":"v1-2","values":[0.5,null,0.25]},{"name":"v1-1","values":[]}]}"#),
    ("analysis_query", "analyse", r#"{"id":"a","rules":"tromp-taylor","komi":7,"boardXSize":9,"boardYSize":9,"initialStones":[["B","C3"]],"moves":[["W","E5"],["B","pass"]],"analyzeTurns":[0,2],"priorities":[1,2],"maxVisits":9,"includePolicy":true,"includePVVisits":true,"reportDuringSearchEvery":0.5,"avoidMoves":[{"player":"B","moves":["D4"],"untilDepth":2}],"overrideSettings":{"maxTime":1.5,"reportAnalysisWinratesAs":"WHITE"}}"#),
    ("analysis_query", "stop", r#"{"id":"b","action":"terminate","terminateId":"a","turnNumbers":[0]}"#),
    ("result_csv", "table", "game_id,black,white,result\n1,a,b,B\n2,\"b, or c\",a,W\n3,a,b,D\n3,a,b,D\n"),
    ("deep_positions", "line", r#"{"size": 9, "komi": 7, "moves": ["e5", "g7"], "value": -0.25, "visits": [["c4", 300], ["pass", 1]]}"#),
    ("input_line", "gtp", "1 boardsize 9\nclear_board # comment\nplay b D4\n\tgenmove w\nquit\n"),
    ("gtp_commands", "game", "1 boardsize 9\nclear_board # comment\nkomi 7\nplay b D4\n2 genmove w\nundo\nfinal_score\nfinal_status_list dead\nshowboard\nlist_stones b\nquit\n"),
    ("gtp_commands", "handicap", "boardsize 13\nfixed_handicap 3\ngenmove w\nclear_board\nplace_free_handicap 2\nclear_board\nset_free_handicap D4 K10\nget_handicap\n"),
    ("gtp_commands", "clock", "time_settings 60 10 3\nkgs-time_settings byoyomi 60 10 3\ntime_left b 5 1\ngenmove b\nkgs-genmove_cleanup w\n"),
    ("gtp_commands", "analysis", "kata-analyze b 10 maxmoves 2 ownership true\nlz-genmove_analyze w 5\ngogui-play_sequence b E5 w C3\ntengen-policy\ntengen-visits\ntengen-variation\ntengen-value\ntengen-status\n"),
    ("gtp_commands", "questions", "known_command play\nlist_commands\nis_legal b C3\ncolor C3\ncountlib C3\ncaptures b\nlast_move\nmove_history\nkgs-rules chinese\nkgs-chat private a hello\nset_random_seed 7\nreg_genmove b\ngg-undo 2\n"),
    ("engine_output", "gtp", "GNU Go\n=1 D4\n\n? unknown command\n\n=3 W+3.5\n\n= resign\n\n"),
    ("engine_output", "katago", r#"{"id":"0","turnNumber":4,"isDuringSearch":false,"rootInfo":{"winrate":0.25,"scoreLead":-3.5},"moveInfos":[{"move":"G3","visits":2},{"move":"C5","visits":7}]}"#),
    ("training_log", "losses", concat!(
        r#"{"accuracy":0.5,"policy":1.5,"set":"train","step":10,"value":0.25,"generation":3,"time":1.5e9}"#, "\n",
        r#"{"set":"holdout","step":10,"generation":3,"policy":1.25,"calibration":[{"count":7,"prediction":0.5,"outcome":0.25},{"count":0,"prediction":null,"outcome":null}]}"#, "\n",
    )),
    ("training_log", "alarm", r#"{"set":"alarm","step":5,"generation":2,"time":1,"alarm":"stale","text":"again and again"}"#),
    ("configuration", "model", "v15-330"),
    ("configuration", "player", "v15-330+visits=8+precision=f32"),
    ("configuration", "stem", "gpu-0.a-1700000000000"),
    ("configuration", "file", "000330/w0-1700000000000"),
    ("configuration", "log", "000007-1795670858410.jsonl"),
    ("configuration", "place", "games/7/w-1-0000000000005"),
    ("configuration", "response", "Error performing GET http://x in 1ms, after 1 retries, max_retries: 3 - Server returned non-2xx status code: 403 Forbidden: <?xml?>\n<Error><Code>AccessDenied</Code><Message>It may not.</Message></Error>"),
];

/// The report of a position of the analysed game.
const REPORT: &str = r#"{"isDuringSearch":false,"turnNumber":1,"moveInfos":[{"move":"B4","order":0,"visits":20,"prior":0.25,"winrate":0.375,"lcb":0.25,"utility":-0.25,"scoreLead":-2.5,"scoreSelfplay":-2.5,"scoreStdev":0.0,"utilityLcb":-0.5,"scoreMean":-2.5,"pv":["B4","C4"],"pvVisits":[20,9]}],"rootInfo":{"currentPlayer":"W","visits":31,"winrate":0.5,"lcb":0.375,"utility":0.0,"scoreLead":0.0,"scoreSelfplay":0.0,"scoreStdev":0.0,"rawWinrate":0.5,"thisHash":"00","symHash":"00"},"policy":[0.75,-1.0]}"#;

/// An analysis of two positions, as a process leaves it that is killed while it writes the third.
pub fn analysis() -> String {
    let header = serde_json::to_string(&analysed::header(&analysed::record())).expect("plain fields are JSON");
    serde_json::from_str::<Report>(REPORT).expect("the text is a report");
    let next = REPORT.replace("\"turnNumber\":1", "\"turnNumber\":2");
    format!("{header}\n{REPORT}\n{next}\n{}", &REPORT[..40])
}
