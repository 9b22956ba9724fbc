//go:build unix

package file_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/sqlite/powerloss"
	"github.com/geosql/geosql/internal/trials"
)

// Power cuts. Work is done on a disk with recorded writes and syncs. Then, for
// every point of the recording, folders are made as a power cut there could leave
// them, and opened: all amounts granted until then must be charged, and the rest can be
// granted, exactly.
//
//	go test ./ledger -run 'CrashPower|CrashDisk'
//	GEOSQL_POWER=20 go test ./ledger -run 'CrashPower|CrashDisk' -v -timeout 60m
//
// GEOSQL_POWER is how many random folders are tried at every point, beside the one
// without anything that was not synced and the one with all of it. With it the figures
// of docs/crash.md are printed at the end. Without it some of the points are tried,
// others in each run.

// Without GEOSQL_POWER about fewPoints of an outage are tried, each with fewImages random
// folders.
const (
	fewPoints = 10
	fewImages = 2
)

// pointsAgain is about how many points after a power cut are tried.
const pointsAgain = 4

// powerEffort is how many random images a point gets, and how many points are tried;
// 0 for all.
func powerEffort(t *testing.T) (images, points int) {
	if images = trials.Count(t, "GEOSQL_POWER", 0); images == 0 {
		return fewImages, fewPoints
	}
	return images, 0
}

func TestCrashPowerCut(t *testing.T) {
	images, points := powerEffort(t)
	var all []cuts
	for _, o := range outages {
		t.Run(o.name, func(t *testing.T) {
			trace, promises := o.play(t, nothingYet)
			c := newCuts(t, o, images, points)
			check(t, c.everywhere(trace, promises))
			for _, err := range c.faults {
				t.Error(err)
			}
			all = append(all, *c)
		})
	}
	t.Log(cutsTable(all))
}

// TestCrashPowerCutTwice cuts the power a second time while the ledger that the first
// cut has left is opened, which takes back and repeats unfinished changes, and used.
func TestCrashPowerCutTwice(t *testing.T) {
	images, _ := powerEffort(t)
	var all []cuts
	for _, o := range outages {
		t.Run(o.name, func(t *testing.T) {
			trace, promises := o.play(t, nothingYet)
			sum := newCuts(t, o, images, pointsAgain)
			chance := trials.Rand(t)
			for n, disk := range trace.Points() {
				if chance.IntN(trace.Len()) < 2*images {
					sum.again(t, disk.WithSome(chance), *promiseAt(promises, n))
				}
			}
			for _, err := range sum.faults {
				t.Error(err)
			}
			all = append(all, *sum)
		})
	}
	t.Log(cutsTable(all))
}

// again cuts the power in the operations after a power cut.
func (c *cuts) again(t *testing.T, left powerloss.Image, p promise) {
	t.Helper()
	o := &outage{
		name:    c.name,
		prepare: func(t *testing.T, dir string) { check(t, left.Write(dir)) },
		verify:  c.verify,
		check:   c.check,
	}
	o.work = steps(openLedger, func(w *witness) error { return o.verified(w.Ledger, w.dir, p.head) }, chargeUsable, closeLedger)
	p.at = 0
	trace, promises := o.play(t, p)
	then := newCuts(t, o, c.images, c.points)
	check(t, then.everywhere(trace, promises))
	c.tried += then.tried
	c.judged += then.judged
	c.granted += then.granted
	c.failed += then.failed
	c.faults = append(c.faults, then.faults...)
}

// cuts cuts the power in an outage.
type cuts struct {
	*outage
	dir            string          // for the images
	images, points int             // see powerEffort
	known          map[string]bool // pairs of images and promises already judged

	tried, judged int // points, images
	granted       int // answers, each counted for every account that it is about
	failed        int // images that are not as promised, or do not go on
	faults        []error

	seed   uint64     // of random images
	chance *rand.Rand // chooses points
	until  string     // the fault that is enough
}

func newCuts(t *testing.T, o *outage, images, points int) *cuts {
	return &cuts{outage: o, dir: t.TempDir(), images: images, points: points, seed: trials.Seed(t), chance: trials.Rand(t), known: map[string]bool{}}
}

// mostFaults is how many faults of an outage are told.
const mostFaults = 10

// shows reports whether a fault says something.
func (c *cuts) shows(says string) bool {
	return slices.ContainsFunc(c.faults, func(err error) bool { return strings.Contains(err.Error(), says) })
}

// everywhere tries the points of a trace.
func (c *cuts) everywhere(trace *powerloss.Trace, promises []promise) error {
	for n, disk := range trace.Points() {
		if c.points > 0 && n < trace.Len() && c.chance.IntN(trace.Len()) >= c.points {
			continue
		}
		if c.until != "" && c.shows(c.until) {
			return nil
		}
		if err := c.at(n, disk, promiseAt(promises, n)); err != nil {
			return err
		}
	}
	for _, answers := range promises[len(promises)-1].granted {
		c.granted += len(answers)
	}
	return nil
}

// at tries one point.
func (c *cuts) at(n int, disk *powerloss.Disk, p *promise) error {
	c.tried++
	for i, image := range c.imagesAt(n, disk) {
		asked := fmt.Sprintf("%d %x", p.at, image.Sum())
		if c.known[asked] {
			continue
		}
		c.known[asked] = true
		if err := c.try(fmt.Sprintf("point %d, image %d", n, i), image, p); err != nil {
			return err
		}
	}
	return nil
}

// imagesAt are the images that a power cut after n operations could leave.
func (c *cuts) imagesAt(n int, disk *powerloss.Disk) []powerloss.Image {
	images := []powerloss.Image{disk.WithNothing(), disk.WithEverything()}
	chance := rand.New(rand.NewPCG(c.seed, uint64(n)))
	for range c.images {
		images = append(images, disk.WithSome(chance))
	}
	return images
}

// try judges an image.
func (c *cuts) try(what string, image powerloss.Image, p *promise) error {
	dir, err := os.MkdirTemp(c.dir, "")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := image.Write(dir); err != nil {
		return err
	}
	c.judged++
	fault := c.judge(dir, p)
	if fault == nil {
		return nil
	}
	c.failed++
	if len(c.faults) < mostFaults || c.until != "" && strings.Contains(fault.Error(), c.until) {
		c.faults = append(c.faults, fmt.Errorf("%s: %w", what, fault))
	}
	return nil
}

// cutsTable is the figures as those of docs/crash.md.
func cutsTable(all []cuts) string {
	var b strings.Builder
	b.WriteString("\n| scenario | points | images | answers | images that failed |\n|---|--:|--:|--:|--:|\n")
	var sum cuts
	for _, c := range all {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d |\n", c.name, c.tried, c.judged, c.granted, c.failed)
		sum.tried += c.tried
		sum.judged += c.judged
		sum.granted += c.granted
		sum.failed += c.failed
	}
	fmt.Fprintf(&b, "| **all** | %d | %d | %d | %d |\n", sum.tried, sum.judged, sum.granted, sum.failed)
	return b.String()
}
