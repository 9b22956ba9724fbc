package serve

import (
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/files/filestest"
	"github.com/geosql/geosql/internal/servetest"
)

// Health says within seconds that the disk of the ledger is full, and that it has room again.
func TestHealthOfAFullDisk(t *testing.T) {
	folder := filestest.SmallDisk(t, 2)
	s := newSiteIn(t, folder).fake()
	want := func(status int, text string) {
		t.Helper()
		time.Sleep(1100 * time.Millisecond) // for which an answer of the probe is kept
		if got, said := servetest.Fetch(t, http.DefaultClient, "http://"+s.httpAddr+"/healthz"); got != status || said != text {
			t.Errorf("%d %s, want %d %s", got, said, status, text)
		}
	}
	want(200, "ok")
	filler := filestest.Fill(t, folder)
	want(503, "nobody can be charged: the disk of the ledger is full")
	check(t, os.Remove(filler))
	want(200, "ok")
}
