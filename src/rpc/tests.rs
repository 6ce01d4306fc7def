//! The codec against what clients get wrong.

use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use super::*;

fn read(text: &str) -> Result<Incoming, Fault> {
    parse(text.as_bytes())
}

#[test]
fn messages_are_told_apart() {
    let request = |id, params| Ok(Incoming::Request { id, method: "m".into(), params });
    assert_eq!(read(r#"{"id":"1","method":"m"}"#), request(Id::Text("1".into()), Value::Null));
    assert_eq!(
        read(r#"{"jsonrpc":"2.0","id":7,"method":"m","params":[1],"more":1}"#),
        request(Id::Number(7), json!([1]))
    );
    assert!(matches!(read(r#"{"method":"m","id":null}"#), Ok(Incoming::Notification { .. })));
    let answer = read(r#"{"id":"1","result":null}"#).expect("a response");
    assert_eq!(
        answer,
        Incoming::Response { id: Some(Id::Text("1".into())), result: Ok(Value::Null) }
    );
    let failed = read(r#"{"id":"1","error":{"code":1,"message":"x"}}"#).expect("a response");
    assert!(matches!(failed, Incoming::Response { result: Err(error), .. } if error.code == 1));
}

#[test]
fn what_is_no_message_is_told_by_kind() {
    for text in ["", "{", "\u{feff}{}", "nope", &"[".repeat(100_000)] {
        assert_eq!(read(text), Err(Fault::NotJson), "{text:.20}");
    }
    assert_eq!(parse(b"{\"method\":\"\xff\"}"), Err(Fault::NotJson));
    for text in [
        "[]",
        r#"[{"id":"1","method":"m"}]"#,
        "1",
        "null",
        "{}",
        r#"{"method":1,"id":"1"}"#,
        r#"{"id":{},"method":"m"}"#,
        r#"{"id":1.5,"method":"m"}"#,
        r#"{"jsonrpc":"1.0","id":"1","method":"m"}"#,
    ] {
        assert_eq!(read(text), Err(Fault::NoMessage), "{text}");
    }
    for text in [
        r#"{"id":"1"}"#,
        r#"{"id":"1","result":1,"error":{"code":1,"message":"x"}}"#,
        r#"{"id":"1","error":"x"}"#,
    ] {
        assert_eq!(read(text), Err(Fault::NoResponse), "{text}");
    }
}

#[test]
fn half_a_surrogate_pair_is_mended() {
    let message = read(r#"{"method":"m","params":"\ud83d"}"#).expect("mended");
    assert_eq!(message, Incoming::Notification { method: "m".into(), params: json!("\u{fffd}") });
}

#[tokio::test]
async fn lines_have_a_limit_and_the_next_one_is_whole() {
    let text = b"ab\n\nabcdef\nabcd\nxy";
    let mut lines = LineReader::new(&text[..], 4);
    let mut read = Vec::new();
    while let Some(line) = lines.next().await.expect("read") {
        read.push(line);
    }
    let whole = |text: &str| Line::Whole(text.into());
    assert_eq!(read, [whole("ab"), whole(""), Line::TooLong, whole("abcd"), whole("xy")]);
}

#[tokio::test]
async fn a_read_that_is_dropped_loses_nothing() {
    let (mut client, server) = tokio::io::duplex(64);
    let mut lines = LineReader::new(server, 100);
    client.write_all(b"be").await.expect("written");
    tokio::select! {
        biased;
        line = lines.next() => panic!("{line:?}"),
        () = tokio::task::yield_now() => {}
    }
    client.write_all(b"gin\n").await.expect("written");
    assert_eq!(lines.next().await.expect("read"), Some(Line::Whole(b"begin".to_vec())));
}

#[tokio::test]
async fn what_waits_is_counted_and_written_in_order() {
    let outbox = Outbox::default();
    let (writer, reader) = tokio::io::duplex(16);
    for n in 0..1000 {
        outbox.push(format!("{n}\n").as_bytes());
    }
    let before = outbox.bytes();
    assert_eq!(before, (0..1000).map(|n: u32| n.to_string().len() + 1).sum::<usize>());
    let from = outbox.clone();
    let writing = tokio::spawn(async move { from.write(writer).await });
    let mut lines = LineReader::new(reader, 100);
    for n in 0..1000 {
        assert_eq!(lines.next().await.expect("read"), Some(Line::Whole(n.to_string().into())));
    }
    outbox.until(0).await;
    outbox.close();
    outbox.push(b"late");
    writing.await.expect("no panic").expect("written");
    assert_eq!(outbox.bytes(), 0);
}

#[tokio::test]
async fn when_nobody_reads_any_more_nothing_is_kept() {
    let outbox = Outbox::default();
    let (writer, reader) = tokio::io::duplex(16);
    drop(reader);
    outbox.push(b"x\n");
    outbox.write(writer).await.expect_err("nobody reads");
    outbox.push(b"y\n");
    assert_eq!((outbox.bytes(), outbox.is_closed()), (0, true));
    outbox.until(0).await;
}

proptest! {
    #[test]
    fn nothing_panics(bytes in prop::collection::vec(any::<u8>(), 0..60), text in r#"[{}\[\]"\\:,a-z0-9]{0,60}"#) {
        let _ = parse(&bytes);
        let _ = read(&text);
    }
}
