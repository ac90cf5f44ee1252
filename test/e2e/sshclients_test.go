//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/skiptest"
)

// allClients is true where the clients that .ci/run does not install are tried, too, and everything for longer.
func allClients() bool { return os.Getenv(clientsVariable) == "all" }

// clientsVariable is "all" where every SSH client is tried, those too that .ci/run does not install.
const clientsVariable = "BERTH_TEST_SSH_CLIENTS"

// sshClient is one that is tried: a script that fails, or prints something else, if it does not work.
type sshClient struct {
	needs  string // programs and files, of which the client is made
	extra  bool   // .ci/run does not install it
	script string
	prints string
}

// same makes a tree here, with every kind of name, and says whether two are the same.
const same = `
mkdir -p src/sub/deep
head -c 300000 /dev/urandom >src/sub/large
printf x >'src/a b'; printf y >src/-rf; printf z >$'src/new\nline'; printf q >"src/quote'"; printf l >$'src/\xff\xfe'
ln -s sub/large src/link; : >src/empty; chmod 640 src/empty
`

func sshClients() map[string]sshClient {
	return map[string]sshClient{
		"ssh": {needs: "ssh", prints: "out\nstatus 7\nbytes 1000000\nx\n", script: `
			s=0; ssh -F $F $H 'echo out; exit 7' || s=$?; echo status $s
			head -c 1000000 /dev/zero | ssh -F $F $H 'wc -c' | sed 's/^ */bytes /'
			ssh -F $F -o SetEnv=FOO=x $H 'echo $FOO'`},
		"ssh with a terminal": {needs: "ssh", prints: "terminal\r\n", script: `
			ssh -F $F -tt $H 'test -t 0 && echo terminal' 2>/dev/null < <(sleep 60)`},
		"scp": {needs: "scp", prints: "", script: same + `
			scp -F $F -q -r src $H:scp; scp -F $F -q -r $H:scp back; diff -r src back`},
		"scp -O": {needs: "scp", prints: "", script: same + `
			rm $'src/new\nline' # which it escapes
			scp -F $F -O -q -r src $H:scp-o; scp -F $F -O -q -r $H:scp-o back; diff -r src back`},
		"sftp": {needs: "sftp", prints: "2\n", script: same + `
			rm src/link # which it does not copy
			printf '%s\n' 'put -r src sftp' 'rename sftp/empty sftp/moved' 'ln -s moved sftp/soft' \
				'ln sftp/moved sftp/hard' 'chmod 600 sftp/moved' 'df' 'mkdir sftp/dir' 'rmdir sftp/dir' \
				'get -r sftp back' 'rm sftp/moved' |
				sftp -F $F -q -b - $H >/dev/null
			ssh -F $F $H 'readlink sftp/soft | grep -c moved; ls sftp | grep -c hard' | awk '{n+=$1} END {print n}'
			mv back/moved back/empty; rm -f back/soft back/hard; diff -r src back`},
		"rsync": {needs: "rsync", prints: "", script: same + `
			rsync -e "ssh -F $F" -a src/ $H:rsync; rsync -e "ssh -F $F" -a $H:rsync/ back; diff -r src back
			rsync -e "ssh -F $F" -ain src/ $H:rsync`},
		"git": {needs: "git", prints: "a commit\n", script: `
			export GIT_SSH_COMMAND="ssh -F $F" GIT_CONFIG_GLOBAL=/dev/null
			ssh -F $F $H 'git init -q --bare -b main repo.git' 2>/dev/null
			git init -q -b main src && cd src
			git -c user.name=a -c user.email=a@b commit -q --allow-empty -m 'a commit'
			git push -q $H:repo.git main && git clone -q $H:repo.git ../back && git -C ../back log --format=%s`},
		"dbclient": {needs: "dbclient", prints: "out\nstatus 4\n", script: `
			s=0; dbclient -y -J "$P" berth@$H 'echo out; exit 4' 2>/dev/null || s=$?; echo status $s`},
		"plink and psftp": {needs: "plink psftp", prints: "out\nstatus 3\n", script: `
			key=$(ssh-keygen -lf $KNOWN | cut -d' ' -f2); head -c 300000 /dev/urandom >src
			s=0; plink -batch -proxycmd "$P" -hostkey $key berth@$H 'echo out; exit 3' 2>/dev/null || s=$?
			echo status $s
			printf '%s\n' 'put src psftp' 'get psftp back' >batch
			psftp -batch -b batch -proxycmd "$P" -hostkey $key berth@$H >/dev/null 2>&1; cmp src back`},
		"paramiko": {
			needs: "/usr/lib/python3/dist-packages/paramiko", script: `/usr/bin/python3 $TESTDATA/with_paramiko.py ` +
				`"$P" 2>/dev/null`,
			prints: "out err 6\n/root\nback True\nrefused\n",
		},
		"asyncssh": {
			needs: "/usr/lib/python3/dist-packages/asyncssh", extra: true, prints: "out 5\nback True\nto\n",
			script: `/usr/bin/python3 $TESTDATA/with_asyncssh.py "$P" 2>/dev/null`,
		},
		"ansible": {needs: "ansible", extra: true, prints: "pong\nchanged\n", script: `
			echo "$H ansible_ssh_common_args='-F $F' ansible_python_interpreter=/usr/bin/python3" >hosts
			head -c 300000 /dev/urandom >src
			export ANSIBLE_SSH_CONTROL_PATH_DIR=$(mktemp -d) # a path that is short enough for a socket
			ansible -i hosts all -m ping | grep -o pong
			ansible -i hosts all -m copy -a 'src=src dest=/tmp/ansible' | grep -om1 changed`},
		"sshfs": {needs: "sshfs /dev/fuse", extra: true, prints: "yes\n", script: same + `
			mkdir mnt; sshfs -F $F $H: mnt; trap 'fusermount -u mnt' EXIT
			cp -r src mnt/sshfs; mv mnt/sshfs/empty mnt/sshfs/moved; mv mnt/sshfs/moved mnt/sshfs/empty
			printf here | dd of=mnt/sshfs/sub/large bs=1 seek=1000 conv=notrunc status=none
			printf here | dd of=src/sub/large bs=1 seek=1000 conv=notrunc status=none
			diff -r src mnt/sshfs; df mnt >/dev/null; rm -r mnt/sshfs; echo yes`},
		"ssh2, as editors use it": {
			needs: "node npm", extra: true, prints: "bash says ready\nswitching protocols\necho hello\n",
			script: `npm install --silent --no-audit --no-fund --ignore-scripts --prefix . ssh2@1.17.0 >/dev/null 2>&1
				NODE_PATH=$U/node_modules node $TESTDATA/editor.js "$P"`,
		},
	}
}

// Each client works with a workspace whose image has no SSH in it. Those that .ci/run does not install are tried by
// `make test-ssh-clients`.
func TestSSHClients(t *testing.T) {
	w := newWorld(t)
	h := w.ssh("alice~plain")
	h.tools("bash", "rsync", "git", "scp", "python3")
	for name, client := range sshClients() {
		t.Run(name, func(t *testing.T) {
			client.mayRun(t)
			h := *h
			h.world = w.of(t)
			r := h.script(client.script)
			if r.status != 0 || r.stdout != client.prints {
				t.Errorf("status %d\nstdout: %q, want %q\nstderr: %s", r.status, r.stdout, client.prints, r.stderr)
			}
		})
	}
}

// mayRun skips a client that is not here; where nothing may be skipped, that is for those that need not be here.
func (c sshClient) mayRun(t *testing.T) {
	t.Helper()
	if c.extra && !allClients() {
		t.Skipf("it is tried by `make test-ssh-clients`, or with %s=all", clientsVariable)
	}
	for program := range strings.FieldsSeq(c.needs) {
		_, err := exec.LookPath(program)
		if strings.HasPrefix(program, "/") {
			_, err = os.Stat(program)
		}
		if err != nil {
			skiptest.Lacks(t, "%v", err)
		}
	}
}
