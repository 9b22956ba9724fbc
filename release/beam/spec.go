package beam

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/printable"
	"github.com/geosql/geosql/release"
)

// A Spec is the content of a spec file.
type Spec struct {
	Release release.Spec // its Region is not read yet
	Region  string       // the file of the region; "" if there is none
	Ledger  string       // a URL without a password
	Shards  int

	path   string
	level  *big.Rat // nil: not given, as the others
	radius *big.Rat
	domain []float64
}

// maxSpec is the largest size of a spec file in bytes.
const maxSpec = 1 << 20

// ReadSpec reads a spec file, which may be on an object store. The files that it names are not
// read.
func ReadSpec(ctx context.Context, path string) (*Spec, error) {
	text, err := readSpec(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("the spec file: %w", err)
	}
	s := &Spec{Release: release.Spec{Outside: release.DefaultOutside}, path: path}
	if err := s.parse(text); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

func readSpec(ctx context.Context, path string) ([]byte, error) {
	r, err := openFile(ctx, path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, maxSpec+1))
	if err == nil && len(text) > maxSpec {
		err = fmt.Errorf("%s has more than 1 MB; a spec file is a short JSON text", path)
	}
	return text, err
}

// A setting is a key of a spec file. It has the name of a flag of geosql release, and means the same.
type setting struct {
	name string
	read func(s *Spec, value json.RawMessage) error
}

var settings = []setting{
	{"in", func(s *Spec, v json.RawMessage) error { return filePath(v, &s.Release.In) }},
	{"out", func(s *Spec, v json.RawMessage) error { return filePath(v, &s.Release.Out) }},
	{"ledger", readLedger},
	{"shards", readShards},
	{"account", func(s *Spec, v json.RawMessage) error { return text(v, &s.Release.Account) }},
	{"lat", func(s *Spec, v json.RawMessage) error { return words(v, &s.Release.Lat) }},
	{"lon", func(s *Spec, v json.RawMessage) error { return words(v, &s.Release.Lon) }},
	{"keep", func(s *Spec, v json.RawMessage) error { return words(v, &s.Release.Keep) }},
	{"weight", func(s *Spec, v json.RawMessage) error { return text(v, &s.Release.Weight) }},
	{"max-rows-per-account", func(s *Spec, v json.RawMessage) error { return count(v, &s.Release.MaxRows) }},
	{"epsilon", func(s *Spec, v json.RawMessage) error { return positive(v, cli.Rational, &s.Release.Epsilon) }},
	{"level", func(s *Spec, v json.RawMessage) error { return positive(v, cli.RationalLevel, &s.level) }},
	{"radius", func(s *Spec, v json.RawMessage) error { return positive(v, cli.Rational, &s.radius) }},
	{"domain", readDomain},
	{"region", func(s *Spec, v json.RawMessage) error { return filePath(v, &s.Region) }},
	{"mechanism", readMechanism},
	{"outside", readOutside},
	{"limit", readLimit},
	{"id", readID},
	{"publishable", func(s *Spec, v json.RawMessage) error { return truth(v, &s.Release.Publishable) }},
	{"escape-formulas", func(s *Spec, v json.RawMessage) error { return truth(v, &s.Release.EscapeFormulas) }},
	{"workers", func(s *Spec, v json.RawMessage) error { return count(v, &s.Release.Workers) }},
}

// Settings returns the keys that a spec file may have.
func Settings() []string {
	names := make([]string, len(settings))
	for i := range settings {
		names[i] = settings[i].name
	}
	return names
}

// parse reads the settings. Package json alone would ignore a second value of a setting, and the
// case of its name.
func (s *Spec) parse(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	syntax := func(err error) error {
		line := 1 + bytes.Count(text[:min(d.InputOffset(), int64(len(text)))], []byte("\n"))
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("the text ends too early")
		}
		return fmt.Errorf("line %d is not JSON: %w", line, err)
	}
	if t, err := d.Token(); err != nil {
		return syntax(err)
	} else if t != json.Delim('{') {
		return errors.New("a spec file is a JSON object, such as {\"in\": \"/data/trips.csv\", ..}")
	}
	seen := map[string]bool{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return syntax(err)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return syntax(err)
		}
		name := key.(string) // the decoder accepts no other keys
		if seen[name] {
			return fmt.Errorf("%q is given twice", name)
		}
		seen[name] = true
		if err := s.set(name, value); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return syntax(err)
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("something follows the JSON object")
	}
	return nil
}

// set gives a setting its value.
func (s *Spec) set(name string, value json.RawMessage) error {
	for _, x := range settings {
		if x.name != name {
			continue
		}
		if string(value) == "null" {
			return fmt.Errorf("%q has no value: leave it out", name)
		}
		if err := x.read(s, value); err != nil {
			return fmt.Errorf("%q: %w", name, err)
		}
		return nil
	}
	if near := cli.Nearest(name, Settings()); near != "" {
		return fmt.Errorf("there is no setting %q (did you mean %q?)", name, near)
	}
	return fmt.Errorf("there is no setting %q, only %s", name, strings.Join(Settings(), ", "))
}

// check returns an error if settings are missing or contradict each other, and sets fields that follow
// from several of them.
func (s *Spec) check() error {
	r := &s.Release
	switch {
	case r.In == "":
		return errors.New(`no input given: add "in"`)
	case r.Out == "":
		return errors.New(`no output given: add "out"`)
	case s.Ledger == "":
		return errors.New(`no ledger given: add "ledger", such as "postgres://host/database"`)
	case s.Shards == 0:
		return errors.New(`no number of shards given: add "shards"`)
	case r.Account == "":
		return errors.New(`no account to charge: add "account", a column or const:NAME`)
	case len(r.Lat) == 0 || len(r.Lat) != len(r.Lon):
		return errors.New(`"lat" and "lon" must name equally many columns, at least one each`)
	case r.Epsilon != nil && (s.level != nil || s.radius != nil):
		return errors.New(`give either "epsilon", or "level" and "radius"`)
	case r.Epsilon == nil && (s.level == nil || s.radius == nil):
		return errors.New(`no epsilon given: add "epsilon", or "level" and "radius"`)
	case s.domain == nil && s.Region == "":
		return errors.New(`no domain given: add "domain", [SOUTH, WEST, NORTH, EAST, STEP], or "region"`)
	}
	if r.Epsilon == nil {
		r.Epsilon = new(big.Rat).Quo(s.level, s.radius)
		r.Level, _ = s.level.Float64()
		r.Radius, _ = s.radius.Float64()
	}
	if d := s.domain; d != nil {
		r.Box, r.Step = release.Box{South: d[0], West: d[1], North: d[2], East: d[3]}, d[4]
	}
	return checkObjectName(r.Out)
}

// readRegion reads the region, which is a file of this machine now. If no domain is given, it is
// the box around the region, with a step of 1 m.
func (s *Spec) readRegion(file string) error {
	region, err := release.ReadRegion(file)
	if err != nil {
		return fmt.Errorf("region: %w", err)
	}
	s.Release.Region = region.WKT
	if s.domain == nil {
		s.Release.Box, s.Release.Step = region.Box, 1
	}
	return nil
}

func readLedger(s *Spec, value json.RawMessage) error {
	if err := text(value, &s.Ledger); err != nil {
		return err
	}
	return checkLedger(s.Ledger)
}

func readShards(s *Spec, value json.RawMessage) error {
	if json.Unmarshal(value, &s.Shards) != nil || s.Shards < 1 || s.Shards > release.MostShards {
		return fmt.Errorf("it must be a whole number from 1 to %d", release.MostShards)
	}
	return nil
}

func readDomain(s *Spec, value json.RawMessage) error {
	wrong := errors.New("it must be a list of five numbers: [SOUTH, WEST, NORTH, EAST, STEP]")
	var numbers []json.RawMessage
	if json.Unmarshal(value, &numbers) != nil || len(numbers) != 5 {
		return wrong
	}
	for _, n := range numbers {
		x, err := cli.Number(string(n))
		if err != nil {
			return wrong
		}
		s.domain = append(s.domain, x)
	}
	return nil
}

func readMechanism(s *Spec, value json.RawMessage) error {
	if err := text(value, &s.Release.Mechanism); err != nil {
		return err
	}
	return release.CheckMechanism(s.Release.Mechanism)
}

func readOutside(s *Spec, value json.RawMessage) error {
	x, err := cli.Number(string(value))
	if err != nil || x < 0 || x > 1 {
		return errors.New("it must be a number from 0 to 1, such as 0.05 for 5 %")
	}
	s.Release.Outside = x
	return nil
}

func readLimit(s *Spec, value json.RawMessage) error {
	x, err := decimal(value, cli.Rational)
	if err != nil {
		return err
	}
	limit, err := budget.Limit(x)
	s.Release.Limit = &limit
	return err
}

func readID(s *Spec, value json.RawMessage) error {
	if err := text(value, &s.Release.ID); err != nil {
		return err
	}
	if !printable.Is(s.Release.ID) {
		return errors.New("an id must be a line of text")
	}
	return nil
}

func count(value json.RawMessage, to *int) error {
	if json.Unmarshal(value, to) != nil || *to < 1 {
		return errors.New("it must be a whole number of at least 1")
	}
	return nil
}

// text reads a text that is not empty.
func text(value json.RawMessage, to *string) error {
	if json.Unmarshal(value, to) != nil || *to == "" {
		return errors.New("it must be a text in quotes, which is not empty")
	}
	return nil
}

// words reads the name of a column, or a list of them.
func words(value json.RawMessage, to *[]string) error {
	var one string
	if text(value, &one) == nil {
		*to = []string{one}
		return nil
	}
	var all []*string
	wrong := errors.New("it must be the name of a column, or a list of names")
	if json.Unmarshal(value, &all) != nil {
		return wrong
	}
	for _, w := range all {
		if w == nil || *w == "" {
			return wrong
		}
		*to = append(*to, *w)
	}
	return nil
}

func truth(value json.RawMessage, to *bool) error {
	if json.Unmarshal(value, to) != nil {
		return errors.New("it must be true or false")
	}
	return nil
}

// decimal reads a number, or a text that parse reads, exactly.
func decimal(value json.RawMessage, parse func(text string) (*big.Rat, error)) (*big.Rat, error) {
	digits := string(value)
	if value[0] == '"' {
		if err := json.Unmarshal(value, &digits); err != nil {
			return nil, err
		}
	}
	return parse(digits)
}

func positive(value json.RawMessage, parse func(text string) (*big.Rat, error), to **big.Rat) error {
	x, err := decimal(value, parse)
	if err == nil && x.Sign() <= 0 {
		err = fmt.Errorf("%s is not above 0", value)
	}
	*to = x
	return err
}

// filePath reads the path of a file that means the same to all workers.
func filePath(value json.RawMessage, to *string) error {
	if err := text(value, to); err != nil {
		return err
	}
	return checkPath(*to)
}
