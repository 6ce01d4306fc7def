//! The way through a proxy, which stands on loopback and answers itself.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;

const KIND: ProviderKind = ProviderKind::OpenaiLegacy;

fn behind(proxy: String) -> Arc<dyn ChatProvider> {
    let mut model = fixture::model(KIND, "http://model.invalid/v1");
    model.network.proxy = Some(proxy);
    provider(&model)
}

#[tokio::test]
async fn an_http_proxy_gets_the_whole_address() {
    let proxy = Loopback::start(vec![vec![events(&hello(KIND))]]).await;
    let address = proxy.address.replace("http://", "http://me:pass@");
    let answer = fixture::ask(&*behind(address), fixture::hi()).await.expect("an answer");
    assert_eq!(answer.message().text(), "Hello");
    let request = proxy.requests().remove(0).to_lowercase();
    let line = "post http://model.invalid/v1/chat/completions http/1.1";
    assert!(request.starts_with(line), "{request}");
    assert!(request.contains("proxy-authorization: basic"), "{request}");
}

#[tokio::test]
async fn a_socks_proxy_gets_the_name() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = format!("socks5h://{}", listener.local_addr().expect("address"));
    let server = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.expect("a connection");
        let mut greeting = [0; 2];
        socket.read_exact(&mut greeting).await.expect("a greeting");
        let mut methods = vec![0; usize::from(greeting[1])];
        socket.read_exact(&mut methods).await.expect("methods");
        socket.write_all(&[5, 0]).await.expect("no login");
        let mut head = [0; 5];
        socket.read_exact(&mut head).await.expect("a request");
        assert_eq!(head[..4], [5, 1, 0, 3], "connect to a name");
        let mut name = vec![0; usize::from(head[4]) + 2];
        socket.read_exact(&mut name).await.expect("the name");
        socket.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).await.expect("connected");
        let mut request = vec![0; 65536];
        let _ = socket.read(&mut request).await.expect("a request");
        let Play::Send(answer) = events(&hello(KIND)) else { unreachable!("bytes") };
        socket.write_all(&answer).await.expect("an answer");
        name.truncate(name.len() - 2);
        String::from_utf8(name).expect("text")
    });
    let answer = fixture::ask(&*behind(address), fixture::hi()).await.expect("an answer");
    assert_eq!(answer.message().text(), "Hello");
    assert_eq!(server.await.expect("the proxy"), "model.invalid");
}

#[tokio::test]
async fn this_machine_is_reached_without_the_proxy() {
    let server = Loopback::start(vec![vec![events(&hello(KIND))]]).await;
    let mut model = fixture::model(KIND, &server.address);
    model.network.proxy = Some("http://proxy.invalid:1".into());
    let answer = fixture::ask(&*provider(&model), fixture::hi()).await.expect("an answer");
    assert_eq!(answer.message().text(), "Hello");
}
