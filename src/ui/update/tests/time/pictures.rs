//! Pictures of the ledger, the timeline with its changes, what was taken out, and the dialogs.

use super::*;

macro_rules! picture {
    ($name:ident, $make:expr) => {
        #[test]
        fn $name() {
            let mut harness: Harness = $make;
            insta::assert_snapshot!(harness.picture());
        }
    };
}

fn ledger_at(width: u16, height: u16) -> Harness {
    let mut h = one_turn(width, height);
    h.keys("<f9>");
    tell(&mut h, Extension::ContextLedger(ledger(0)));
    h.keys("<down>");
    h
}

fn travelled(width: u16, height: u16) -> Harness {
    let mut h = compacted(width, height);
    let mut mail = match reverted(0, RevertCause::AgentDMail) {
        Event::Extension(Extension::ContextReverted(told)) => told,
        other => panic!("{other:?}"),
    };
    h.begin_turn("second");
    mail.mail = Some("The answer is in src/a.rs; do not read the rest again.".into());
    mail.change = change(1, 2);
    tell(&mut h, Extension::ContextReverted(mail));
    h.step(2).text("I know.").end_turn();
    h.keys("<ctrl-t><down><down><down>");
    h
}

fn losses(width: u16, height: u16) -> Harness {
    let mut h = compacted(width, height);
    h.keys("<ctrl-t>p<space><down>");
    h
}

picture!(ledger_80x24, ledger_at(80, 24));
picture!(ledger_120x40, ledger_at(120, 40));
picture!(ledger_200x60, ledger_at(200, 60));
picture!(travelled_80x24, travelled(80, 24));
picture!(travelled_120x40, travelled(120, 40));
picture!(travelled_200x60, travelled(200, 60));
picture!(losses_80x24, losses(80, 24));
picture!(losses_120x40, losses(120, 40));
picture!(restore_80x24, {
    let mut h = travelled(80, 24);
    h.keys("R");
    h
});
picture!(dmail_80x24, {
    let mut h = one_turn(80, 24);
    h.keys("<ctrl-t>d");
    price(&mut h, at(0, 1));
    h.keys("Look at the lexer<ctrl-j>before the parser");
    h
});
