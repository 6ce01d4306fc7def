use super::*;

#[test]
fn every_default_key_parses_and_means_one_thing() {
    let mut seen = std::collections::HashSet::new();
    let rows =
        DEFAULTS.iter().flat_map(|(context, rows)| rows.iter().map(move |row| (context, row)));
    for (context, (keys, action, ..)) in rows {
        let led = |led: &&(&str, Action)| *context == Context::Global && led.1 == *action;
        assert!(
            !keys.is_empty() || chord::LED.iter().any(|row| led(&row)),
            "{action:?} has no key"
        );
        for key in keys.split(' ').filter(|key| !key.is_empty()) {
            let press: KeyPress = key.parse().expect(key);
            assert!(seen.insert((*context, press)), "{key} twice in {context:?} ({action:?})");
        }
    }
}

#[test]
fn keys_page_is_what_the_keymap_says() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/keys.md");
    let page = Keymap::default().to_markdown();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &page).expect("docs/keys.md");
    }
    assert_eq!(std::fs::read_to_string(&path).expect("docs/keys.md"), page);
}

#[test]
fn the_context_comes_before_everywhere() {
    let keymap = Keymap::default();
    let ctrl_p = "ctrl-p".parse().expect("key");
    assert_eq!(keymap.lookup(Context::Sessions, ctrl_p), Some(Action::SelectPrevious));
    assert_eq!(keymap.lookup(Context::Composer, ctrl_p), Some(Action::Palette));
}
