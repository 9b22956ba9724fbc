package serve

import (
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/doctest"
	"github.com/geosql/geosql/internal/need"
)

// A machine stands in for one on which the server is installed: it has the files of this one, with changes of its own, devices
// as a service or a container has, and a network in which no port is taken.
type machine struct {
	*testing.T
	folder string
	server *exec.Cmd
	asked  int // how many questions of answers
}

// begin runs in namespaces for mounts and network; its folder is that of the machine.
const begin = `
ip link set lo up
mount -t overlay overlay -o lowerdir=/,upperdir=changes,workdir=work root
mount -t proc -o hidepid=2 proc root/proc
mount -t tmpfs -o mode=755 dev root/dev
mkdir root/dev/shm
mount -t tmpfs -o mode=1777 shm root/dev/shm
for device in null zero full random urandom tty; do
	touch root/dev/$device
	mount --bind /dev/$device root/dev/$device
done
`

// newMachine makes a machine on which the example of docs/first-server.md lies in /clone, beside the files of this folder and the command.
func newMachine(t *testing.T) *machine {
	t.Helper()
	need.Programs(t, "ip", "unshare", "nsenter", "setpriv", "prlimit", "psql", "curl", "openssl")
	if os.Geteuid() != 0 {
		t.Skip("only root may mount files")
	}
	m := &machine{T: t, folder: t.TempDir()}
	m.check(os.Chmod(m.folder, 0o755))
	clone := filepath.Join(m.folder, "changes/clone")
	for _, folder := range []string{"work", "root", "changes/clone/internal/packaging"} {
		m.check(os.MkdirAll(filepath.Join(m.folder, folder), 0o755))
	}
	m.check(os.CopyFS(filepath.Join(clone, "internal/packaging/serve"), os.DirFS(".")))
	m.output(exec.Command("go", "build", "-o", filepath.Join(clone, "geosql"), "../../../cmd/geosql"))
	if out, err := m.inside("true").CombinedOutput(); err != nil {
		t.Skipf("files cannot be mounted here: %v, %s", err, out)
	}
	m.check(os.CopyFS(filepath.Join(clone, "examples"), os.DirFS("../../../examples")))
	page, err := os.ReadFile("../../../docs/first-server.md")
	m.check(err)
	blocks, err := doctest.Blocks(string(page))
	m.check(err)
	for _, b := range blocks {
		if b.Language == "sh" {
			cmd := exec.Command("sh", "-euc", b.Code)
			cmd.Dir = clone
			m.output(cmd)
		}
	}
	return m
}

func (m *machine) check(err error) {
	m.Helper()
	if err != nil {
		m.Fatal(err)
	}
}

// output runs a program, which must succeed.
func (m *machine) output(cmd *exec.Cmd) string {
	m.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		m.Fatalf("%s: %v\n%s", cmd.Args[0], err, out)
	}
	return string(out)
}

// inside returns a command that runs a script of the shell where the machine's files are in the folder root.
func (m *machine) inside(script string) *exec.Cmd {
	cmd := exec.Command(need.Program(m.T, "unshare"), "--mount", "--net", "--ipc", "--uts", "--propagation", "private", "sh", "-euc", begin+script)
	cmd.Dir = m.folder
	return cmd
}

// install runs the commands of a page as root of the machine.
func (m *machine) install(commands string) {
	m.Helper()
	m.output(m.inside("exec chroot root sh -euxc " + quoted("cd /clone\n"+commands)))
}

// start starts the server with a script of inside.
func (m *machine) start(script string) {
	m.Helper()
	m.server = m.inside(script)
	log, err := os.Create(filepath.Join(m.folder, "log"))
	m.check(err)
	defer log.Close()
	m.server.Stdout, m.server.Stderr = log, log
	m.server.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	m.check(m.server.Start())
	m.Cleanup(func() {
		_ = m.server.Process.Kill() // it may have ended
		_ = m.server.Wait()
		if m.Failed() {
			m.Logf("the server says\n%s", m.said())
		}
	})
}

// said returns the log of the server.
func (m *machine) said() string {
	m.Helper()
	text, err := os.ReadFile(filepath.Join(m.folder, "log"))
	m.check(err)
	return string(text)
}

// near returns a command of this machine that runs in the server's network, and with more arguments for nsenter in others of its
// namespaces.
func (m *machine) near(more []string, command ...string) *exec.Cmd {
	args := append([]string{"--target", fmt.Sprint(m.server.Process.Pid), "--net"}, more...)
	cmd := exec.Command(need.Program(m.T, "nsenter"), append(args, command...)...)
	cmd.Env = append(os.Environ(), "PGPASSWORD=open sesame", "PGOPTIONS=", "PGCONNECT_TIMEOUT=10")
	return cmd
}

// ask has psql log in and ask a question.
func (m *machine) ask(connection, sql string) string {
	m.Helper()
	return strings.TrimSpace(m.output(m.near(nil, need.Program(m.T, "psql"), "--no-psqlrc", "-qtA", connection+" host=127.0.0.1 dbname=energy user=ana", "-c", sql)))
}

// answers checks that the server answers, and gives an answer again, also that its sessions have all restrictions of their own.
func (m *machine) answers(connection string) {
	m.Helper()
	if got := m.ask(connection, "SELECT count(*) FROM reading"); got != "1920" {
		m.Errorf("there are %s rows", got)
	}
	m.asked++
	question := fmt.Sprintf("SELECT tariff, dx_sum(kwh, 0.%d) FROM reading GROUP BY tariff", m.asked)
	first, again := m.ask(connection, question), m.ask(connection, question)
	notice, answer, _ := strings.Cut(first, "\n")
	if !strings.HasPrefix(notice, fmt.Sprintf("NOTICE:  cost up to 0.%d/kWh for each of 20 accounts", m.asked)) || strings.Count(answer, "|") != 2 {
		m.Errorf("it answers %s", first)
	}
	if notice, rows, _ := strings.Cut(again, "\n"); !strings.Contains(notice, "no cost") || rows != answer {
		m.Errorf("%s and then %s", first, again)
	}
	said := m.said()
	for _, restriction := range []string{"no new privileges", "not dumpable", "limits", "seccomp"} {
		if _, held, _ := strings.Cut(said, `"held by":`); !strings.Contains(held, restriction) {
			m.Errorf("sessions are not held by %s", restriction)
		}
	}
	if strings.Contains(said, syscall.EPERM.Error()) {
		m.Error("the server may not do something that it would")
	}
}

// stop has the server end, as systemd and engines of containers do.
func (m *machine) stop() {
	m.Helper()
	m.check(m.server.Process.Signal(syscall.SIGTERM))
	timer := time.AfterFunc(45*time.Second, func() { _ = m.server.Process.Kill() })
	defer timer.Stop()
	if err := m.server.Wait(); err != nil {
		m.Errorf("the server ends with %v", err)
	}
}

// quoted returns a word for the shell.
func quoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

//go:embed testdata/confine.py
var confine string
