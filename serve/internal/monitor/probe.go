package monitor

import (
	"context"
	"sync"
	"time"
)

const (
	probeFor    = time.Second     // that an answer is given again
	probeWithin = 2 * time.Second // that it comes in
)

// A Probe runs a check for clients who ask often, and do not wait for long. It may be used by several goroutines at a time.
type Probe struct {
	check func(context.Context) error
	late  error

	mu      sync.Mutex
	results chan error
	running bool
	last    error
	at      time.Time
}

// NewProbe returns a probe of a check, which is run by one goroutine at a time. Late is the error of a check that takes longer
// than two seconds, when its context is done.
func NewProbe(check func(context.Context) error, late error) *Probe {
	return &Probe{check: check, late: late, results: make(chan error, 1)}
}

// Check returns the result of a check that began at most two seconds ago.
func (p *Probe) Check() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if age := time.Since(p.at); 0 <= age && age <= probeFor {
		return p.last
	}
	p.last = p.run()
	p.at = time.Now()
	return p.last
}

// run runs the check, after one that may still run.
func (p *Probe) run() error {
	end := time.After(probeWithin)
	for {
		fresh := !p.running
		if fresh {
			p.running = true
			go func() {
				ctx, cancel := context.WithTimeout(context.Background(), probeWithin)
				defer cancel()
				p.results <- p.check(ctx)
			}()
		}
		select {
		case err := <-p.results:
			if p.running = false; fresh {
				return err
			}
		case <-end:
			return p.late
		}
	}
}
