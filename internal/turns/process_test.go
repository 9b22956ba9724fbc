//go:build linux || darwin || windows

package turns

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
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
		takeTurns(Open(path, 0o600), role == "push in")
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

// obey obeys commands line by line, and says when each is done. Before it waits in the queue, it says its place.
func obey(q *Queue) {
	var place int64
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		switch lines.Text() {
		case "enter":
			place = q.takePlace()
			fmt.Println(place)
			q.await(place, never)
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

// says waits until the player says something.
func (p *player) says(t testing.TB) string {
	t.Helper()
	line, err := p.out.ReadString('\n')
	check(t, err)
	return strings.TrimSpace(line)
}

// queued starts n players and makes them enter in their order. The first is in
// its turn. It returns their places, too.
func queued(t testing.TB, path string, n int) (players []*player, places []int64) {
	t.Helper()
	for range n {
		p := start(t, "obey", path)
		p.tell(t, "enter")
		place, err := strconv.ParseInt(p.says(t), 10, 64)
		check(t, err)
		players, places = append(players, p), append(places, place)
	}
	players[0].says(t)
	return players, places
}

func TestKilledWaiter(t *testing.T) {
	path := newPath(t)
	p, _ := queued(t, path, 4)
	check(t, p[1].Process.Kill())
	p[1].Wait() // killed
	p[0].tell(t, "leave")
	p[2].says(t)
	p[2].tell(t, "leave")
	p[3].says(t)
}

func TestKilledHolder(t *testing.T) {
	path := newPath(t)
	p, _ := queued(t, path, 3)
	check(t, p[0].Process.Kill())
	p[1].says(t)
	check(t, p[1].Process.Kill())
	p[2].says(t)
}

// A process that is suspended in its place delays others for their patience, and
// when it is too old no more.
func TestSuspended(t *testing.T) {
	path := newPath(t)
	q := open(t, path)
	p, places := queued(t, path, 2)
	held := places[0]
	check(t, suspend(p[0].Process))
	for range 3 {
		q.Leave(q.Enter(10 * time.Millisecond))
	}
	for clock() <= held+int64(10*time.Millisecond) {
	}
	for range 1000 {
		q.Leave(q.Enter(10 * time.Millisecond)) // waits for neither
	}
	check(t, resume(p[0].Process))
	p[0].tell(t, "leave")
	p[1].says(t)
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

// An event is something that a process does, by the clock that all share.
type event struct {
	at   int64
	what string // wants: it is about to ask. asked. turn: it is in its turn
	who  string // process and turn
}

// takeTurns takes turns and then tells their events. Where it pushes in, it does not wait
// for others. It begins when it is told.
func takeTurns(q *Queue, pushes bool) {
	fmt.Println("ready")
	bufio.NewScanner(os.Stdin).Scan()
	var events []event
	for turn := range 150 {
		note := func(what string) {
			events = append(events, event{clock(), what, fmt.Sprint(os.Getpid(), "/", turn)})
		}
		note("wants")
		place := q.takePlace()
		note("asked")
		if pushes {
			time.Sleep(time.Duration(rand.IntN(1000)) * time.Microsecond)
		} else {
			q.await(place, never)
		}
		note("turn")
		time.Sleep(time.Microsecond) // the work of a turn
		q.Leave(place)
	}
	q.Close()
	for _, e := range events {
		fmt.Println(e.at, e.what, e.who)
	}
}

// turnsOf returns the events of several processes, in their order.
func turnsOf(t testing.TB, role string) (events []event) {
	t.Helper()
	path := newPath(t)
	var players []*player
	for range 6 {
		players = append(players, start(t, role, path))
	}
	for _, p := range players {
		p.says(t)
	}
	for _, p := range players {
		p.tell(t, "begin")
	}
	for _, p := range players {
		var e event
		for {
			_, err := fmt.Fscanln(p.out, &e.at, &e.what, &e.who)
			if errors.Is(err, io.EOF) {
				break
			}
			check(t, err)
			events = append(events, e)
		}
		check(t, p.Wait())
	}
	slices.SortFunc(events, func(a, b event) int {
		// At the same moment, who wants a turn does not follow who asked.
		return cmp.Or(cmp.Compare(a.at, b.at), -cmp.Compare(a.what, b.what))
	})
	return events
}

// outOfTurn counts the turns that began before one that had been asked for before
// they were wanted, and all that were wanted while others waited.
func outOfTurn(events []event) (early, late int) {
	asked := map[string]bool{}              // processes that wait
	waiting := map[string]map[string]bool{} // for a turn: processes that waited when it was wanted
	for _, e := range events {
		switch e.what {
		case "wants":
			waiting[e.who] = maps.Clone(asked)
		case "asked":
			asked[e.who] = true
		case "turn":
			delete(asked, e.who)
			if len(waiting[e.who]) > 0 {
				late++
			}
			for other := range waiting[e.who] {
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
