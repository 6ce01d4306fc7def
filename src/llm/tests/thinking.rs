//! Thinking is asked for when it is wanted, and not when it is off.

use serde_json::Value;

use super::*;
use crate::config::Capability;

/// What the request of a model of `kind` says about thinking.
async fn said(kind: ProviderKind, thinking: bool) -> Vec<(String, Value)> {
    let server = Loopback::start(vec![vec![events(&hello(kind))]]).await;
    let mut model = fixture::model(kind, &server.address);
    model.capabilities = vec![Capability::Thinking];
    let model = model.with_thinking(Some(thinking));
    fixture::ask(&*provider(&model), fixture::hi()).await.expect("an answer");
    let requests = server.requests();
    let body = requests[0].split_once("\r\n\r\n").expect("a body").1;
    let body: Value = serde_json::from_str(body).expect("json");
    let places = [
        "/thinking",
        "/reasoning",
        "/reasoning_effort",
        "/generationConfig/thinkingConfig",
        "/extra_body/thinking",
    ];
    let found = |place: &&str| Some(((*place).to_owned(), body.pointer(place)?.clone()));
    places.iter().filter_map(found).collect()
}

/// SPEC A22: thinking may be off, in every dialect.
#[tokio::test]
async fn thinking_that_is_off_is_asked_for_in_no_dialect() {
    for kind in KINDS {
        let (off, on) = (said(kind, false).await, said(kind, true).await);
        assert!(!on.is_empty(), "{kind:?} thinks");
        assert_ne!(off, on, "{kind:?}");
        for (place, value) in off {
            // Kimi's server thinks unless it is told not to; the others are not told anything.
            assert_eq!((kind, &value["type"]), (ProviderKind::Kimi, &"disabled".into()), "{place}");
        }
    }
}
