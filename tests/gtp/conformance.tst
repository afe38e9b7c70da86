# Every command of `tengen gtp --model uniform`, in the style of GNU Go's regression suites: a command with its number,
# and behind `#?` the answer as a regular expression that it must match from end to end; `? ` before it says that the
# command must fail. python3 tests/python/gtp_regress.py tests/gtp/conformance.tst tengen gtp --model uniform

# What the program is
1 protocol_version
#? [2]
2 name
#? [Tengen]
3 version
#? [\d+\.\d+\.\d+ uniform]
4 known_command genmove
#? [true]
5 known_command no_such_command
#? [false]
6 list_commands
#? [protocol_version\n(.+\n)*quit\n(.+\n)*genmove\n(.+\n)*lz-analyze\n(.+\n)*final_status_list\n(.+\n?)*]
7 no_such_command
#? [? unknown command]

# Boards
10 boardsize 26
#? [? unacceptable size]
11 boardsize 9
#? []
12 query_boardsize
#? [9]
13 clear_board
#? []
14 clear_cache
#? []
15 komi 5.5
#? []
16 get_komi
#? [5.5]
17 komi none
#? [? syntax error]
18 showboard
#? [\n    A B C D E F G H J\n  9( \.){9} 9\n(.+\n)+ black to move after 0 moves; komi 5.5; captured by black 0, by white 0]

# Moves
20 play black E5
#? []
21 play white E5
#? [? illegal move]
22 play white J10
#? [? illegal move]
23 play blue E4
#? [? syntax error]
24 play W pass
#? []
25 last_move
#? [white pass]
26 move_history
#? [white pass\nblack E5]
27 color E5
#? [black]
28 color E4
#? [empty]
29 countlib E5
#? [4]
30 countlib E4
#? [? vertex must not be empty]
31 is_legal white E5
#? [0]
32 is_legal white E4
#? [1]
33 list_stones black
#? [E5]
34 all_legal white
#? [A9( [A-HJ]\d){79}]
35 undo
#? []
36 gg-undo 1
#? []
37 undo
#? [? cannot undo]
38 gg-undo 1
#? [? cannot undo]
39 gogui-play_sequence b A2 w A1 b B1
#? []
40 captures black
#? [1]
41 gogui-play_sequence b C3 w C3
#? [? illegal move]
42 list_stones black
#? [A2 B1]
43 final_score
#? [B\+75.5]

# Handicaps
50 fixed_handicap 2
#? [? board not empty]
51 clear_board
#? []
52 fixed_handicap 5
#? [C3 G7 C7 G3 E5]
53 get_handicap
#? [5]
54 clear_board
#? []
55 fixed_handicap 10
#? [? invalid number of stones]
56 place_free_handicap 3
#? [[A-HJ]\d( [A-HJ]\d){2}]
57 clear_board
#? []
58 set_free_handicap C3 G7
#? []
59 list_stones black
#? [G7 C3]
60 clear_board
#? []
61 set_free_handicap C3 C3
#? [? bad vertex list]

# Rules
62 kata-get-rules
#? [\{"friendlyPassOk":false,"hasButton":false,"ko":"POSITIONAL","scoring":"AREA","suicide":false,"tax":"NONE","whiteHandicapBonus":"0"\}]
63 kata-set-rules chinese
#? []
64 kata-set-rules japanese
#? [? rules japanese are not supported; the rules are area scoring, positional superko, suicide illegal]
65 kata-set-rules {"ko": "SIMPLE", "suicide": true}
#? [? these rules are not supported; the rules are area scoring, positional superko, suicide illegal]
66 kata-set-rule suicide false
#? []
67 kata-set-rule komi 7
#? [? unknown rule "komi"; known are .+]

# Clocks
70 time_settings 600 30 5
#? []
71 time_left black 595 0
#? []
72 kgs-time_settings byoyomi 600 30 5
#? []
73 kgs-time_settings hourglass 3
#? [? syntax error]
74 time_settings 1 0 0
#? []

# What KGS tells and asks
75 kgs-rules chinese
#? []
76 kgs-rules japanese
#? [? japanese rules are not supported; area is counted]
77 kgs-chat private somebody what are you?
#? [Tengen .+]
78 kgs-chat game somebody hello
#? [? nothing to say]

# Moves that the program makes
79 set_random_seed 42
#? []
80 genmove black
#? [[A-HJ]\d]
81 reg_genmove white
#? [[A-HJ]\d]
82 time_settings 0 1 0
#? []
83 genmove white
#? [[A-HJ]\d]
84 gogui-interrupt
#? []
85 lz-genmove_analyze black 10
#? [\n(info move .+\n)+play [A-HJ]\d]
86 kata-genmove_analyze white 10
#? [\n(info move .+\n)+play [A-HJ]\d]
87 genmove_analyze black 10
#? [\n(info move .+\n)+play [A-HJ]\d]
88 cgos-genmove_analyze white
#? [\n\{"moves":\[\{"move":.+\],"visits":\d+,"winrate":[0-9.]+\}\nplay [A-HJ]\d]
89 list_stones black
#? [[A-HJ]\d( [A-HJ]\d){2}]

# Analysis, which the next line ends
90 lz-analyze black 100
#? [(\ninfo .+)*]
91 kata-analyze white 100 ownership true rootInfo true
#? [(\ninfo .+)*]
92 analyze black 100
#? [(\ninfo .+)*]
93 cgos-analyze black 100
#? [(\n\{.+\})*]
94 lz-analyze 10 avoid b D4,pass 1 avoid w E5 20
#? [(\ninfo .+)*]
95 kata-analyze 10 allow b D4
#? [? allow: wants a player, vertices separated by commas, and a depth]
96 kata-genmove_analyze black allow black A1,A2,A3,A4 1
#? [\n(info move .+\n)+play (A[1-4]|pass)]
97 kata-analyze black 100
#? [(\ninfo .+)*]
98 stop
#? []
99 kata-analyze B 10 allow b D4,E4 50 allow w D4,E4 50 ownership true
#? [(\ninfo .+)*]

# The end
100 clear_board
#? []
101 gogui-play_sequence b A8 b B8 b C8 b D8 b E8 b E9 b B9 w D9
#? []
102 final_status_list dead
#? [D9]
103 final_status_list alive
#? [B9 E9 A8 B8 C8 D8 E8]
104 final_status_list seki
#? []
105 final_status_list unsettled
#? [? syntax error]
106 kgs-genmove_cleanup black
#? [C9]
107 kgs-game_over
#? []

# Views
110 gogui-analyze_commands
#? [(\w+/[^/]+/tengen-\w+\n?)+]
111 tengen-policy
#? [([A-HJ]\d 1 ?)+]
112 tengen-visits
#? [([A-HJ]\d \d+ ?)+]
113 tengen-variation
#? [((black|white) ([A-HJ]\d|pass) ?)+]
114 tengen-value
#? [[+-]\d\.\d+ for Black after \d+ visits; network value [+-]0.000]
115 tengen-pass_alive
#? [(\n[XO.]( [XO.]){8}){9}]
116 tengen-status
#? [(\n[XOsd.]( [XOsd.]){8}){9}]

# Files
120 loadsgf tests/gtp/no_such_file.sgf
#? [? cannot load file]
121 loadsgf tests/gtp/game.sgf 3
#? []
122 move_history
#? [white G7\nblack C3]
123 quit
#? []
