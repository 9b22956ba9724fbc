package serve

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"
)

// How often the server is killed: more with GEOSQL_KILLS, as make long does.
const kills = 20

func rounds(t *testing.T) int {
	n := kills
	if v := os.Getenv("GEOSQL_KILLS"); v != "" {
		var err error
		if n, err = strconv.Atoi(v); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// Whatever is killed when, every answer that somebody has seen was charged, and is remembered: asked again it is the same,
// and free.
func TestKill(t *testing.T) {
	const epsilon = 0.0009765625 // 2^-10, so that sums are exact
	p := newPlace(t, "100000")
	p.analyst("ann", "100000", "--max-repeat", "2")
	random := rand.New(rand.NewPCG(21, 9))
	seen := map[string]string{} // answers by question
	var mu sync.Mutex
	answers := 0
	for round := range rounds(t) {
		s := p.serve()
		stop := make(chan struct{})
		var clients sync.WaitGroup
		for client := range 4 {
			seed := random.Uint64()
			clients.Go(func() {
				questions := rand.New(rand.NewPCG(seed, uint64(client)))
				for {
					conn, err := s.connect("ann")
					if err != nil {
						select {
						case <-stop:
							return
						case <-time.After(10 * time.Millisecond):
							continue
						}
					}
					session := &session{s, conn}
					for err == nil {
						q := fmt.Sprintf(`SELECT dx_sum(kwh, %v) FROM reading WHERE rowid %% %d <> %d`, epsilon, 2+questions.IntN(400), questions.IntN(4))
						var got string
						if got, err = session.ask(q); err == nil {
							mu.Lock()
							answers++
							if before, asked := seen[q]; asked && before != got {
								t.Errorf("round %d: %s\nanswers %s, then %s", round, q, before, got)
							}
							seen[q] = got
							mu.Unlock()
						}
						select {
						case <-stop:
							conn.Close(context.Background())
							return
						default:
						}
					}
					conn.Close(context.Background())
				}
			})
		}
		time.Sleep(time.Duration(50+random.IntN(400)) * time.Millisecond)
		if round%3 != 1 { // workers
			for _, id := range s.workers() {
				if pid, err := strconv.Atoi(id); err == nil && (round%3 == 2 || random.IntN(2) == 0) {
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
			}
			time.Sleep(time.Duration(random.IntN(100)) * time.Millisecond)
		}
		close(stop)
		if round%3 == 0 {
			clients.Wait()
			s.stop()
		} else {
			s.Kill()
			clients.Wait()
		}
		if spent := p.spent("kWh"); spent < float64(len(seen))*epsilon {
			t.Fatalf("round %d: %d answers were seen, and %v was charged", round, len(seen), spent/epsilon)
		}
	}
	p.run("budget", p.path, "--verify")
	before := p.spent("kWh")
	s := p.serve()
	session := s.session("ann")
	for q, want := range seen {
		session.answers(q, want)
	}
	if after := p.spent("kWh"); after != before {
		t.Errorf("answers that were given cost %v", after-before)
	}
	s.stop()
	t.Logf("%d answers to %d questions in %d rounds; charged for %v", answers, len(seen), rounds(t), before/epsilon)
	if len(seen) < 10*rounds(t)/2 {
		t.Error("too few to be a test")
	}
}
