package serve

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/trials"
)

// kills is how often the server is killed, without GEOSQL_KILLS.
const kills = 10

// Whatever is killed when, every answer that somebody has seen was charged, and is remembered: asked again it is the same,
// and free.
func TestKill(t *testing.T) {
	const (
		epsilon = 0.0009765625 // of a sum
		step    = 1e-6         // of the values: each question has another multiple
		unit    = 1e-12
	)
	rounds := trials.Count(t, "GEOSQL_KILLS", kills)
	p := newPlace(t, "100000")
	p.analyst("ann", "100000", "--max-repeat", "2")
	random := trials.Rand(t)
	seen := map[string]string{} // answers by question
	var mu sync.Mutex
	answers, scans, price := 0, 0, 0 // price is the cost of the questions to an account, in units
	answered := func() int {
		mu.Lock()
		defer mu.Unlock()
		return answers
	}
	for round := range rounds {
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
						times := 1 + questions.IntN(8)
						// No two of these are about the same rows with the same epsilon.
						q := fmt.Sprintf(`SELECT dx_sum(kwh, %v) FROM reading WHERE rowid %% %d <> %d`, epsilon*float64(times), 2+questions.IntN(400), questions.IntN(2))
						cost := int(math.Round(epsilon/unit)) * times
						if times == 1 { // an answer for each row
							mu.Lock()
							scans++
							q = fmt.Sprintf(`SELECT dx_value(kwh, %d * 1e-6) FROM reading`, scans)
							cost = hours * scans * int(math.Round(step/unit))
							mu.Unlock()
						}
						var got string
						if got, err = session.ask(q); err == nil {
							mu.Lock()
							answers++
							switch before, asked := seen[q]; {
							case !asked:
								seen[q] = got
								price += cost
							case before != got:
								t.Errorf("round %d: %s\nanswers %s, then %s", round, q, before, got)
							}
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
		for before, begun := answered(), time.Now(); answered() < before+10; time.Sleep(time.Millisecond) {
			if time.Since(begun) > time.Minute {
				t.Fatalf("round %d: %d answers in a minute", round, answered()-before)
			}
		}
		time.Sleep(time.Duration(random.IntN(300)) * time.Millisecond)
		if round%3 != 1 { // workers
			for _, pid := range s.workers() {
				if round%3 != 2 && random.IntN(2) != 0 {
					continue
				}
				if worker, err := os.FindProcess(pid); err == nil {
					_ = worker.Kill()
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
		if spent := p.spent("kWh"); math.Round(spent/unit) < float64(price) {
			t.Fatalf("round %d: answers were seen that cost %d, and %v was charged", round, price, spent/unit)
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
	t.Logf("%d answers to %d questions in %d rounds; they cost %d, and %v was charged", answers, len(seen), rounds, price, before/unit)
	if len(seen) < 10*rounds/2 {
		t.Error("too few to be a test")
	}
}
