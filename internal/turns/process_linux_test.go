package turns

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// roleVariable makes the test binary play a process of a test with several.
const roleVariable = "GEOSQL_TURNS_ROLE"

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		play(role, os.Args[1])
		return
	}
	os.Exit(m.Run())
}

func play(role, path string) {
	switch role {
	case "obey":
		obey(Open(path, 0o600))
	case "take turns", "push in":
		takeTurns(Open(path, 0o600), path+"-log", role == "push in")
	case "visit":
		for range 200 {
			q := Open(path, 0o600)
			if q == nil || !q.inPlace() {
				fmt.Fprintln(os.Stderr, "no queue, or one that others will not find")
				os.Exit(1)
			}
			q.Leave(q.Enter(never))
			q.Close()
		}
	}
}

// player is the test binary in another process.
type player struct {
	*exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func start(t testing.TB, role, path string) *player {
	t.Helper()
	cmd := exec.Command(os.Args[0], path)
	cmd.Env = append(os.Environ(), roleVariable+"="+role)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	check(t, err)
	out, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill() })
	return &player{cmd, in, bufio.NewReader(out)}
}

// obey does what it is told line by line, and says when it is done.
func obey(q *Queue) {
	var place int64
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		switch lines.Text() {
		case "enter":
			place = q.Enter(never)
		case "leave":
			q.Leave(place)
		}
		fmt.Println(lines.Text())
	}
	q.Close()
}

func (p *player) tell(t testing.TB, line string) {
	t.Helper()
	_, err := fmt.Fprintln(p.in, line)
	check(t, err)
}

// done waits until the player has done what it was told.
func (p *player) done(t testing.TB) {
	t.Helper()
	_, err := p.out.ReadString('\n')
	check(t, err)
}

// queued starts n players and makes them enter in their order. The first is in
// its turn.
func queued(t testing.TB, observer *Queue, path string, n int) (players []*player) {
	t.Helper()
	for i := range n {
		p := start(t, "obey", path)
		p.tell(t, "enter")
		standing(t, observer, i+1)
		players = append(players, p)
	}
	players[0].done(t)
	return players
}

func TestKilledWaiter(t *testing.T) {
	path := newPath(t)
	p := queued(t, open(t, path), path, 4)
	check(t, p[1].Process.Kill())
	p[1].Wait() // killed
	p[0].tell(t, "leave")
	p[2].done(t)
	p[2].tell(t, "leave")
	p[3].done(t)
}

func TestKilledHolder(t *testing.T) {
	path := newPath(t)
	p := queued(t, open(t, path), path, 3)
	check(t, p[0].Process.Kill())
	p[1].done(t)
	check(t, p[1].Process.Kill())
	p[2].done(t)
}

// A process that is suspended in its place delays others for their patience, and
// when it is too old no more.
func TestSuspended(t *testing.T) {
	path := newPath(t)
	q := open(t, path)
	p := queued(t, q, path, 2)
	held := places(q)[0]
	check(t, p[0].Process.Signal(syscall.SIGSTOP))
	for range 3 {
		q.Leave(q.Enter(10 * time.Millisecond))
	}
	for clock() <= held+int64(10*time.Millisecond) {
	}
	for range 1000 {
		q.Leave(q.Enter(10 * time.Millisecond)) // waits for neither
	}
	check(t, p[0].Process.Signal(syscall.SIGCONT))
	p[0].tell(t, "leave")
	p[1].done(t)
}

// Processes that open and close all the time have one queue after the other, and
// the last of them removes its file.
func TestOpenAndCloseRace(t *testing.T) {
	path := newPath(t)
	var players []*player
	for range 8 {
		players = append(players, start(t, "visit", path))
	}
	for _, p := range players {
		check(t, p.Wait())
	}
	if exists(path) {
		t.Error("the file stays")
	}
}

// takeTurns takes turns and logs them: that it is about to ask, that it has asked
// and that it is in its turn. Where it pushes in, it does not wait for others. It
// begins when it is told.
func takeTurns(q *Queue, log string, pushes bool) {
	f, err := os.OpenFile(log, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		panic(err)
	}
	fmt.Println("ready")
	bufio.NewScanner(os.Stdin).Scan()
	for turn := range 150 {
		name := fmt.Sprint(os.Getpid(), "/", turn)
		fmt.Fprintln(f, "wants", name)
		place := q.takePlace()
		fmt.Fprintln(f, "asked", name)
		if pushes {
			time.Sleep(time.Duration(rand.IntN(1000)) * time.Microsecond)
		} else {
			q.await(place, never)
		}
		fmt.Fprintln(f, "turn", name)
		time.Sleep(time.Microsecond) // what a turn is for
		q.Leave(place)
	}
	q.Close()
}

// turnsOf logs the turns of several processes.
func turnsOf(t testing.TB, role string) []string {
	t.Helper()
	path := newPath(t)
	var players []*player
	for range 6 {
		players = append(players, start(t, role, path))
	}
	for _, p := range players {
		p.done(t)
	}
	for _, p := range players {
		p.tell(t, "begin")
	}
	for _, p := range players {
		check(t, p.Wait())
	}
	log, err := os.ReadFile(path + "-log")
	check(t, err)
	return strings.Split(strings.TrimSpace(string(log)), "\n")
}

// outOfTurn counts the turns that began before one that had been asked for before
// they were wanted, and all that were wanted while others waited.
func outOfTurn(log []string) (early, late int) {
	asked := map[string]bool{}              // who waits
	waiting := map[string]map[string]bool{} // for a turn: who waited when it was wanted
	for _, line := range log {
		what, who, _ := strings.Cut(line, " ")
		switch what {
		case "wants":
			waiting[who] = maps.Clone(asked)
		case "asked":
			asked[who] = true
		case "turn":
			delete(asked, who)
			if len(waiting[who]) > 0 {
				late++
			}
			for other := range waiting[who] {
				if asked[other] {
					early++
					break
				}
			}
		}
	}
	return early, late
}

func TestProcessesTakeTurns(t *testing.T) {
	for range attempts {
		early, late := outOfTurn(turnsOf(t, "take turns"))
		if early != 0 {
			t.Errorf("%d turns came too early", early)
		}
		if late > 0 {
			return
		}
	}
	t.Error("nobody had to wait")
}

// The test must notice processes that do not wait for each other.
func TestPushingInIsNoticed(t *testing.T) {
	for range attempts {
		if early, _ := outOfTurn(turnsOf(t, "push in")); early > 0 {
			return
		}
	}
	t.Error("no turn came too early")
}

// attempts is how often processes are given the chance to meet: a busy machine may run
// one after the other.
const attempts = 20
