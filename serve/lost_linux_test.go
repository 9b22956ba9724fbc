package serve

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/geosql/geosql/internal/need"
)

// Clients of a machine that is lost, without a word of farewell, lose their sessions: one that asks nothing, and one that never takes
// its answer. The test runs in a network of its own, and cuts it.
func TestLostClients(t *testing.T) {
	const inside = "GEOSQL_TEST_LOST_CLIENTS"
	if os.Getenv(inside) == "" {
		need.Programs(t, "ip")
		cmd := exec.Command(os.Args[0], "-test.run=^TestLostClients$", "-test.v")
		cmd.Env = append(os.Environ(), inside+"=1")
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
		out, err := cmd.CombinedOutput()
		if os.IsPermission(err) {
			t.Skipf("no network of its own: this process may not make one: %v", err)
		}
		if err != nil || !strings.Contains(string(out), "--- PASS") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	link := func(state string) {
		t.Helper()
		if out, err := exec.Command("ip", "link", "set", "lo", state).CombinedOutput(); err != nil {
			t.Skipf("no network: ip link: %v %s", err, out)
		}
	}
	link("up")
	s := newSite(t)
	s.options.WriteTimeout = 4 * time.Second
	s.fake()
	s.MustConnect("sslmode=disable")
	asking := s.MustConnect("sslmode=disable")
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		asking.Exec(context.Background(), "wait 1000", pgx.QueryExecModeSimpleProtocol)
	}()
	<-s.began
	link("down")
	for end := time.Now().Add(time.Minute); strings.Count(s.said.String(), "a session ended") < 2; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("sessions of lost clients go on")
		}
	}
	link("up") // for the end of the test
	check(t, asking.PgConn().Conn().Close())
	<-ended
}
