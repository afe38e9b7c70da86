//! What must hold of libtorch on every processor, checked with the kernels for AVX2, which most processors have.
//!
//! oneDNN and ATen choose their kernels once for a process, by environment variables among others, so each instruction
//! set is a run of this test binary. `TENGEN_TEST_INSTRUCTION_SETS=all` runs it for every set that this processor has.

use std::env;
use std::process::Command;

use net::OnednnIsa;

/// The environment variable that names the instruction set in a process for one.
pub(crate) const FORCED: &str = "TENGEN_TEST_ISA";

/// Tests of this binary on the independence of the rows of a batch, and on whether bf16 is refused or works.
const TESTS: [&str; 6] = [
    "network::output_is_independent_of_row_and_batch",
    "network::equal_positions_have_equal_outputs_in_batches_of_any_size",
    "network::output_is_independent_of_the_number_of_positions",
    "network::rows_are_independent_for_every_width",
    "network::bf16_works_or_is_refused",
    "training::bf16_trains_or_is_refused",
];

/// What ATen calls its kernels for an instruction set of oneDNN's.
fn aten(set: OnednnIsa) -> &'static str {
    match set {
        OnednnIsa::Plain | OnednnIsa::Sse41 | OnednnIsa::Avx => "default",
        OnednnIsa::Avx2 => "avx2",
        OnednnIsa::Avx512Core | OnednnIsa::Avx512CoreBf16 => "avx512",
    }
}

#[test]
fn forced_instruction_set_is_in_use() {
    // Only in a process for one instruction set does this say more than that there is none larger than the processor's.
    assert!(OnednnIsa::in_use() <= OnednnIsa::of_cpu());
    if let Ok(forced) = env::var(FORCED) {
        assert_eq!(OnednnIsa::in_use().name(), forced);
        let bounded = OnednnIsa::in_use() < OnednnIsa::Avx512Core;
        assert!(!bounded || net::of_inference() < cpu::InstructionSet::Avx512, "{}", net::of_inference());
    }
}

#[test]
fn rows_are_independent_on_other_instruction_sets() {
    let all = env::var("TENGEN_TEST_INSTRUCTION_SETS").is_ok_and(|sets| sets == "all");
    let sets = OnednnIsa::ALL.into_iter().skip(1).filter(|&set| set <= OnednnIsa::in_use());
    let ran: Vec<OnednnIsa> = sets.filter(|&set| all || set == OnednnIsa::Avx2).inspect(|&set| run(set)).collect();
    assert!(OnednnIsa::in_use() < OnednnIsa::Avx2 || ran.contains(&OnednnIsa::Avx2), "{ran:?}");
}

fn run(set: OnednnIsa) {
    let tests = [&TESTS[..], &["instruction_sets::forced_instruction_set_is_in_use"]].concat();
    let output = Command::new(env::current_exe().unwrap())
        .args(["--exact", "--test-threads=1"])
        .args(&tests)
        .env("ONEDNN_MAX_CPU_ISA", set.name().to_uppercase())
        .env("ATEN_CPU_CAPABILITY", aten(set))
        .env(FORCED, set.name())
        // What this process skips is the smaller set's, not the machine's.
        .env_remove("TENGEN_SKIP_LIST")
        .output()
        .unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{set}:\n{said}");
    assert!(said.contains(&format!("test result: ok. {} passed", tests.len())), "{set}: not every test ran:\n{said}");
}
