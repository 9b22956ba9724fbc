package store

import (
	"context"
	"time"

	"github.com/geosql/geosql/internal/sqlite"
)

// InterruptOn interrupts the statements of conn once ctx has ended. It does not touch
// the connection after stop has returned.
func InterruptOn(ctx context.Context, conn *sqlite.Conn) (stop func()) {
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-ctx.Done():
		case <-quit:
			return
		}
		for { // SQLite forgets an interrupt that finds no statement running
			conn.Interrupt()
			select {
			case <-time.After(20 * time.Millisecond):
			case <-quit:
				return
			}
		}
	}()
	return func() {
		close(quit)
		<-ended
	}
}
