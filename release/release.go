package release

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/mechanism/density"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/release/internal/accounts"
)

// sizes bounds the memory and the work done at a time.
type sizes struct {
	batch    int // rows per batch; the digest depends on it
	accounts accounts.Limits
	charge   int // accounts charged per transaction, which locks the ledger for less than a second
}

var defaultSizes = sizes{batch: 1 << 15, accounts: accounts.Limits{Tally: 1 << 18, Merge: 64}, charge: 1 << 17}

// A run is one attempt at a release.
type run struct {
	spec      *Spec
	sizes     sizes
	ledger    Ledger
	dry       bool // nothing is written or charged
	reader    dataset.Reader
	plan      *plan
	formats   formats  // of the outputs
	paths     []string // of the outputs, absolute
	mechanism planar.Mechanism
	found     *findings

	id       string
	inLedger ledger.ReleasePlan
	release  ledger.Release

	outs                               []*file
	report, metadata, rejects, density *file // rejects and density are nil if the spec wants none

	plane *density.Plane // nil without density

	tablePlane *density.Plane // nil without tables of the owner, as the others
	tables     *tables
	utility    []*file
	misplaced  []Misplaced

	there []string // hash of each output that is there when the run begins; "" if it is not

	spill func() (*os.File, error) // opens a file for accounts; nil: beside the output

	surveys []survey
	at      time.Time // of the release, for the report
	batches []*batch  // used by both passes
}

// A Ledger is the part of a [ledger.Ledger] that a release needs.
type Ledger interface {
	ID() string
	Path() string
	ledger.Limits
	ledger.Releases
}

// Run releases a data set. When it returns without an error, the output has its name. After
// an error or a crash the same call continues and charges nothing twice. A refusal of the
// ledger is a [*ledger.RefusalError].
func Run(ctx context.Context, spec Spec, l Ledger) (*Summary, error) {
	return (&run{spec: &spec, sizes: defaultSizes, ledger: l}).run(ctx)
}

func (r *run) run(ctx context.Context) (*Summary, error) {
	defer r.close()
	if err := r.prepare(ctx); err != nil {
		return nil, err
	}
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	if err := r.limitRows(ctx); err != nil {
		return nil, err
	}
	if err := r.found.checkInvalid(r.spec); err != nil {
		return nil, err
	}
	if err := r.find(); err != nil {
		return nil, err
	}
	if published := r.release.Published(); published != nil {
		return r.finish(published)
	}
	if err := r.checkStart(ctx); err != nil {
		return nil, err
	}
	if err := r.open(); err != nil {
		return nil, err
	}
	return r.chargeAndPublish(ctx)
}

// checkStart returns an error if the release cannot begin or go on. Until it has returned nil
// the ledger knows nothing of a new release, so that other settings can have the same id.
func (r *run) checkStart(ctx context.Context) error {
	if err := r.checkFiles(); err != nil {
		return err
	}
	if err := r.checkOutside(); err != nil {
		return err
	}
	d, err := r.demand(r.charges(ctx))
	if err != nil {
		return err
	}
	if err := r.checkShortage(d.shortage); err != nil {
		return err
	}
	return r.tryReport()
}

// checkFiles returns an error if a file is in the way. Files of an earlier attempt are
// not: it counts as nothing from then on.
func (r *run) checkFiles() error {
	if err := r.checkLeftover(); err != nil {
		return err
	}
	for _, f := range r.files() {
		f.left = false
		if exists(f.path) {
			return existsError(f.path)
		}
	}
	return nil
}

// checkLeftover returns an error if a file that an earlier attempt left is of another release
// that is sealed and only lacks its name.
func (r *run) checkLeftover() error {
	for i, out := range r.outs {
		if !out.left {
			continue
		}
		hash, err := out.hash()
		if err != nil {
			return err
		}
		other, err := r.sealedAs(r.paths[i], hash)
		if err == nil && other != "" {
			err = fmt.Errorf("%s is of the complete release %s: repeat its command with --id %s to give it its name", out.Name(), other, other)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func existsError(path string) error {
	return fmt.Errorf("%s already exists; a release does not replace files", path)
}

// enoughWorkers is the number of workers that one reader keeps busy. Each has a batch in
// memory.
const enoughWorkers = 8

func (s *Spec) workers() int {
	if s.Workers > 0 {
		return s.Workers
	}
	return min(runtime.GOMAXPROCS(0), enoughWorkers)
}

// prepare checks the spec and opens the files.
func (r *run) prepare(ctx context.Context) (err error) {
	s := r.spec
	if err := r.setFormats(); err != nil {
		return err
	}
	if err := r.hashOutputs(); err != nil {
		return err
	}
	if r.mechanism, err = newMechanism(ctx, s); err != nil {
		return err
	}
	if err := cmp.Or(r.setPlane(), r.setTables()); err != nil {
		return err
	}
	if r.reader, err = dataset.Open(ctx, s.In); err != nil {
		return err
	}
	if err := r.setPlan(); err != nil {
		return err
	}
	if err := r.checkTemporaryNames(); err != nil {
		return err
	}
	for _, path := range s.outs() {
		out, err := r.openFile(path)
		if err != nil {
			return err
		}
		r.outs = append(r.outs, out)
	}
	if r.report, err = r.openFile(reportPath(s.Out)); err != nil {
		return err
	}
	if r.metadata, err = r.openFile(metadataPath(s.Out)); err != nil {
		return err
	}
	if s.Density > 0 {
		if r.density, err = r.openFile(densityPath(s.Out)); err != nil {
			return err
		}
	}
	if err := r.openTables(); err != nil {
		return err
	}
	if s.Rejects != "" {
		r.rejects, err = r.openFile(s.Rejects)
	}
	return err
}

// setFormats sets the formats and the paths of the outputs.
func (r *run) setFormats() error {
	for _, out := range r.spec.outs() {
		format, err := dataset.FormatOf(out)
		if err != nil {
			return err
		}
		path, err := filepath.Abs(out)
		switch {
		case err != nil:
			return err
		case r.spec.EscapeFormulas && format.Typed():
			return fmt.Errorf("%s: formulas can be escaped in CSV only", out)
		case len(r.spec.Also) > 0 && strings.Contains(path, "\n"): // the ledger keeps a line for each
			return errors.New("the path of one of several outputs must be a line of text")
		}
		r.formats, r.paths = append(r.formats, format), append(r.paths, path)
	}
	return nil
}

// setPlan sets the plan for the columns of the reader.
func (r *run) setPlan() (err error) {
	if r.plan, err = newPlan(r.spec, r.reader.Fields(), r.formats); err != nil {
		return err
	}
	for _, format := range r.formats {
		if err := format.Check(r.plan.schema); err != nil {
			return err
		}
	}
	return nil
}

// openFile opens the temporary file of path. A dry run leaves it as it is.
func (r *run) openFile(path string) (*file, error) {
	if r.dry {
		return lookAtFile(path)
	}
	return openFile(path)
}

// checkTemporaryNames returns an error if a temporary file would have the name of the input
// or the ledger, since a file of that name is emptied or removed.
func (r *run) checkTemporaryNames() error {
	s := r.spec
	temporary, names := []string{accountsPath(s.Out)}, map[string]string{}
	for _, f := range s.files() {
		path := filepath.Clean(f.path)
		if what, twice := names[path]; twice {
			return fmt.Errorf("%s cannot be both the %s and the %s", f.path, what, f.what)
		}
		names[path] = f.what
		temporary = append(temporary, f.path+unfinished)
	}
	for _, path := range temporary {
		switch {
		case sameFile(path, dataset.FileName(s.In)):
			return fmt.Errorf("%s is the input; the release would write a temporary file of that name", path)
		case sameFile(path, r.ledger.Path()):
			return fmt.Errorf("%s is the ledger; the release would write a temporary file of that name", path)
		}
	}
	return nil
}

// A namedFile is the path of a file, and its meaning.
type namedFile struct{ path, what string }

// files returns the files that a release writes.
func (s *Spec) files() (all []namedFile) {
	for i, path := range s.outs() {
		what := "output"
		if i > 0 {
			what = fmt.Sprint("output ", i+1)
		}
		all = append(all, namedFile{path, what})
	}
	all = append(all, namedFile{reportPath(s.Out), "report"}, namedFile{metadataPath(s.Out), "file of metadata"}, namedFile{densityPath(s.Out), "density"})
	for _, path := range s.tableNames() {
		all = append(all, namedFile{path, "table of the owner"})
	}
	if s.Rejects != "" {
		all = append(all, namedFile{s.Rejects, "file of rejects"})
	}
	return all
}

// infers reports whether the kinds of columns have to be inferred.
func (r *run) infers() bool {
	name := strings.TrimSuffix(strings.ToLower(r.spec.In), ".gz")
	csv := strings.HasSuffix(name, ".csv") || strings.HasSuffix(name, ".tsv") || strings.HasSuffix(name, ".txt")
	return csv && r.formats.typed()
}

// find finds the release in the ledger, which need not know it.
func (r *run) find() (err error) {
	r.inLedger = ledger.ReleasePlan{Digest: r.found.digest.String(), Settings: r.settings(), Output: strings.Join(r.paths, "\n")}
	if r.id = r.spec.ID; r.id == "" {
		r.id = defaultID(r.ledger.ID(), r.inLedger)
	}
	r.release, err = r.ledger.FindRelease(r.id, r.inLedger)
	return err
}

// open opens the release in the ledger, which knows it from then on.
func (r *run) open() (err error) {
	r.release, err = r.ledger.OpenRelease(r.id, r.inLedger)
	return err
}

// defaultID returns the id of a release without a name. The same release has the same id, so
// that a command repeated by mistake is found, wherever its output goes.
func defaultID(ledger string, p ledger.ReleasePlan) string {
	sum := sha256.Sum256([]byte(ledger + "\n" + p.Digest + "\n" + p.Settings))
	return hex.EncodeToString(sum[:6])
}

// settings returns everything besides the input that the output and the charges depend on.
// Later additions are named only if they are not the default, so that a release can be
// continued after an update of the program.
func (r *run) settings() string {
	s := r.spec
	region := "none"
	if s.Region != "" {
		sum := sha256.Sum256([]byte(s.Region))
		region = hex.EncodeToString(sum[:8])
	}
	formulas := ""
	if s.EscapeFormulas {
		formulas = " formulas=escaped"
	}
	mechanism := ""
	if s.Mechanism != "" && s.Mechanism != DefaultMechanism {
		mechanism = " mechanism=" + s.Mechanism
	}
	weight := ""
	if s.Weight != "" {
		weight = " weight=" + s.Weight
	}
	rows := ""
	if s.MaxRows > 0 {
		rows = fmt.Sprintf(" rows=%d", s.MaxRows)
	}
	return fmt.Sprintf("account=%s lat=%s lon=%s keep=%s epsilon=%s domain=%v,%v,%v,%v,%v region=%s batch=%d%s%s%s%s",
		s.Account, strings.Join(s.Lat, ","), strings.Join(s.Lon, ","), strings.Join(s.Keep, ","), s.Epsilon.RatString(),
		s.Box.South, s.Box.West, s.Box.North, s.Box.East, s.Step, region, r.sizes.batch, formulas, mechanism, weight, rows)
}

// chargeAndPublish charges the accounts, draws the release, seals and publishes it.
func (r *run) chargeAndPublish(ctx context.Context) (*Summary, error) {
	already := r.release.Charged()
	if err := r.write(ctx); err != nil {
		return nil, err
	}
	if err := r.seal(ctx); err != nil {
		return nil, err
	}
	if err := r.publish(r.files()); err != nil {
		return nil, fmt.Errorf("the release is complete and sealed, but does not have its name yet: %w; repeat the command with --id %s", err, r.id)
	}
	return r.summary(already)
}

// write writes the temporary files.
func (r *run) write(ctx context.Context) error {
	for _, f := range r.files() {
		if err := f.empty(); err != nil {
			return err
		}
	}
	r.found.setKinds(r.plan)
	out, err := r.create()
	if err != nil {
		return err
	}
	err = r.writeRows(ctx, out)
	return cmp.Or(err, out.Close())
}

// writeRows charges the accounts and draws the rows. It charges only once the files are
// open.
func (r *run) writeRows(ctx context.Context, out dataset.Writer) (err error) {
	var rejects dataset.Writer
	if r.rejects != nil {
		if rejects, err = dataset.CSV.Create(r.rejects.File, r.plan.rejectsSchema()); err != nil {
			return err
		}
	}
	if err := r.chargeAll(ctx); err != nil {
		return r.explain(err)
	}
	_, err = r.drawAll(ctx, out, rejects)
	if err == nil && rejects != nil {
		err = rejects.Close()
	}
	return err
}

func (r *run) newDrawer(out, rejects dataset.Writer) *drawer {
	payer, _ := r.spec.constant()
	kind := dataset.Real
	if slices.ContainsFunc(r.formats, func(f dataset.Format) bool { return !f.Typed() }) {
		kind = dataset.Text // with digits as they are to be printed
	}
	return &drawer{
		rowReader: newRowReader(r.plan),
		mechanism: r.mechanism,
		plane:     r.plane,
		source:    exact.NewSource(nil),
		checked:   r.found.batches,
		allowance: r.found.allowance,
		payer:     []byte(payer),
		out:       out,
		kind:      kind,
		rejects:   rejects,
		owner:     !r.spec.Publishable,
		surveys:   newSurveys(r.spec, r.noise()),
		tables:    r.newTables(),
	}
}

// close closes everything that is open and removes temporary files that are not sealed.
func (r *run) close() {
	if r.reader != nil {
		r.reader.Close()
	}
	if r.found != nil && r.found.accounts != nil { // shards have none when they are drawn
		r.found.accounts.Close()
	}
	for _, f := range r.files() {
		f.close()
	}
}
