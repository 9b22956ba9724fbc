package serve

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/need"
)

// A service has the steps of systemd that start a unit, as far as a shell can take them.
type service struct {
	mounts          []string // commands, in the machine's folder
	limits          []string // arguments of prlimit
	umask           string
	user, group     string
	privileges      []string // arguments of setpriv
	families, calls string
	credentials     string // a folder of the machine
	start, reload   string
}

// translate reads the unit. It ends the test at a directive that it does not know.
func translate(t *testing.T, unit string) (s service) {
	t.Helper()
	_, unit, _ = strings.Cut(unit, "[Service]\n")
	unit, _, _ = strings.Cut(strings.ReplaceAll(unit, "\\\n", ""), "[Install]")
	mount := func(command string) { s.mounts = append(s.mounts, command) }
	var folders, filters []string
	for line := range strings.Lines(unit) {
		name, value, is := strings.Cut(strings.TrimSpace(line), "=")
		if !is || strings.HasPrefix(name, "#") {
			continue
		}
		switch name {
		case "Type": // notify
		case "User":
			s.user = value
		case "Group":
			s.group = value
		case "StateDirectory":
			folders = append(folders, "/var/lib/"+value)
		case "LogsDirectory":
			folders = append(folders, "/var/log/"+value)
		case "StateDirectoryMode", "LogsDirectoryMode":
			folder := folders[len(folders)-1]
			mount(fmt.Sprintf("chroot root install -d -o %s -g %s -m %s %s", s.user, s.group, value, folder))
			mount(fmt.Sprintf("mount --bind root%s root%[1]s", folder))
		case "LoadCredential":
			id, from, _ := strings.Cut(value, ":")
			s.credentials = "/run/credentials/geosql.service"
			mount(fmt.Sprintf("mkdir -p root%s && mount -t tmpfs -o mode=755 credentials root%[1]s", s.credentials))
			mount(fmt.Sprintf("chroot root install -o %s -m 0400 %s %s/%s", s.user, from, s.credentials, id))
			mount(fmt.Sprintf("mount -o remount,ro root%s", s.credentials))
		case "ExecStart":
			s.start = value
		case "ExecReload":
			s.reload = value
		case "LimitCORE":
			s.limits = append(s.limits, "--core="+value)
		case "LimitNOFILE":
			s.limits = append(s.limits, "--nofile="+value)
		case "TasksMax":
			s.limits = append(s.limits, "--nproc="+value) // the user has no other processes
		case "UMask":
			s.umask = value
		case "NoNewPrivileges":
			s.privileges = append(s.privileges, "--no-new-privs")
		case "CapabilityBoundingSet":
			s.privileges = append(s.privileges, "--bounding-set=-all")
		case "AmbientCapabilities":
			s.privileges = append(s.privileges, "--inh-caps=-all", "--ambient-caps=-all")
		case "ProtectSystem":
			mount("mount --bind /sys root/sys")
			mount("mount -o remount,bind,ro root")
		case "ProtectHome":
			for _, folder := range []string{"/home", "/root"} {
				mount("mount -t tmpfs -o mode=0,ro home root" + folder)
			}
		case "PrivateTmp":
			mount("mount -t tmpfs -o mode=1777 tmp root/tmp")
			mount("mount -t tmpfs -o mode=1777 tmp root/var/tmp")
		case "ProtectControlGroups":
			mount("mount -o remount,bind,ro root/sys")
		case "ProtectKernelTunables":
			mount("mount --bind root/proc/sys root/proc/sys")
			mount("mount -o remount,bind,ro root/proc/sys")
		case "RestrictAddressFamilies":
			s.families = strings.ReplaceAll(value, " ", ",")
		case "SystemCallFilter":
			filters = append(filters, value)
		case "PrivateDevices", "ProtectProc", "PrivateIPC", "ProtectHostname": // of every machine
		case "MemoryDenyWriteExecute", "RestrictNamespaces", "RestrictRealtime", "RestrictSUIDSGID", "LockPersonality", "SystemCallErrorNumber",
			"SystemCallArchitectures": // confine.py
		case "ProtectClock", "ProtectKernelLogs", "ProtectKernelModules": // no capability, no device and no system call is left for them
		case "KillMode", "TimeoutStopSec": // machine.stop
		case "Restart", "RestartSec", "OOMPolicy", "MemorySwapMax", "KeyringMode", "RemoveIPC": // nothing stands in for them
		default:
			t.Fatalf("nothing stands in for %s", name)
		}
	}
	s.calls = strings.Join(systemCalls(t, filters), ",")
	return s
}

// systemCalls returns the system calls that a filter permits. Its first line is not negated.
func systemCalls(t *testing.T, filters []string) []string {
	t.Helper()
	permitted := members(t, "@default")
	for _, line := range filters {
		names, remove := strings.CutPrefix(line, "~")
		for _, name := range strings.Fields(names) {
			calls := members(t, name)
			if permitted = append(permitted, calls...); remove {
				permitted = slices.DeleteFunc(permitted, func(call string) bool { return slices.Contains(calls, call) })
			}
		}
	}
	return permitted
}

// members returns the system calls of a set, or the one of that name.
func members(t *testing.T, name string) (calls []string) {
	t.Helper()
	if !strings.HasPrefix(name, "@") {
		return []string{name}
	}
	text, err := exec.Command(need.Program(t, "systemd-analyze"), "syscall-filter", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(text), "\n") // below the name
	for line := range strings.Lines(list) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			calls = append(calls, members(t, line)...)
		}
	}
	return calls
}

// script returns a script of the machine that runs a command as the service.
func (s service) script(t *testing.T, command string) string {
	const python = "/usr/bin/python3" // one that everybody may run
	if exec.Command(python, "-c", "import ctypes; ctypes.CDLL('libseccomp.so.2')").Run() != nil {
		need.Missing(t, python+" finds no libseccomp.so.2 (Debian: python3, libseccomp2)")
	}
	home := "/var/lib/geosql"
	words := []string{
		"exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin LANG=C.UTF-8 SHELL=/usr/sbin/nologin USER=" + s.user, "LOGNAME=" + s.user,
		"HOME=" + home, "STATE_DIRECTORY=" + home, "LOGS_DIRECTORY=/var/log/geosql", "CREDENTIALS_DIRECTORY=" + s.credentials, "NOTIFY_SOCKET=/run/notify/socket",
		"prlimit", strings.Join(s.limits, " "),
		"chroot root setpriv", "--reuid=" + s.user, "--regid=" + s.group, "--clear-groups", strings.Join(s.privileges, " "),
		python, "-c", quoted(confine), s.calls, s.families, command,
	}
	return strings.Join(append(s.mounts, "umask "+s.umask, strings.Join(words, " ")), "\n")
}

// The unit starts a server that serves, under its restrictions as far as a shell can make them. The commands of README.md install it.
func TestUnitServes(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("geosql.service")
	if err != nil {
		t.Fatal(err)
	}
	s := translate(t, string(text))
	m := newMachine(t)
	readme, err := os.ReadFile("README.md")
	m.check(err)
	_, commands, _ := strings.Cut(string(readme), "## With systemd\n")
	commands, _, _ = strings.Cut(commands, "    systemctl ")
	m.install(commands)

	m.check(os.MkdirAll(filepath.Join(m.folder, "changes/run/notify"), 0o755))
	m.check(os.Mkdir(filepath.Join(m.folder, "notify"), 0o755))
	name := filepath.Join(m.folder, "notify/socket")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	m.check(err)
	defer socket.Close()
	m.check(os.Chmod(name, 0o777))
	s.mounts = slices.Insert(s.mounts, 0, "mount --bind notify root/run/notify")
	told := func(want string) {
		t.Helper()
		b := make([]byte, 100)
		m.check(socket.SetReadDeadline(time.Now().Add(time.Minute)))
		n, err := socket.Read(b)
		m.check(err)
		if string(b[:n]) != want {
			t.Errorf("systemd is told %s, want %s", b[:n], want)
		}
	}

	// The restrictions hold, and leave the service its folders.
	var try strings.Builder
	for _, command := range []string{"touch /usr/x", "touch /etc/x", "touch /var/lib/x", "ls /root", "cat /etc/geosql/owner.key", "test -e /dev/mem",
		"chmod u+s /var/lib/geosql", "chown geosql /var/lib/geosql", "unshare --user true", "mount -t tmpfs x /tmp", "test -w /proc/sys/kernel/hostname"} {
		fmt.Fprintf(&try, "if %s; then echo it may %[1]s; fi\n", command)
	}
	try.WriteString("exec 2>&1; touch /var/lib/geosql/x /var/log/geosql/x /tmp/x || exit 1")
	probe := m.inside(s.script(t, "/bin/sh -c "+quoted(try.String())))
	if out, err := probe.Output(); err != nil || len(out) > 0 {
		t.Errorf("the service: %v\n%s", err, out)
	}

	m.start(s.script(t, strings.ReplaceAll(s.start, "%d", s.credentials)))
	told("READY=1")
	m.answers("")
	health := func() string { return m.output(m.near(nil, "curl", "--silent", "http://127.0.0.1:8080/healthz")) }
	if got := health(); got != "ok\n" {
		t.Errorf("health: %q", got)
	}
	log := fmt.Sprintf("/proc/%d/root/var/log/geosql/audit.log", m.server.Process.Pid)
	m.check(os.Rename(log, log+".1")) // as logrotate does
	m.output(exec.Command("sh", "-c", strings.ReplaceAll(s.reload, "$MAINPID", fmt.Sprint(m.server.Process.Pid))))
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(log); err == nil || time.Now().After(end) {
			break
		}
	}
	m.answers("")
	for _, name := range []string{log, log + ".1"} {
		if text, err := os.ReadFile(name); err != nil || !strings.Contains(string(text), `"sqlstate":"00000"`) {
			t.Errorf("%s: %.200s, %v", name, text, err)
		}
	}
	m.stop()
	told("STOPPING=1")
}
