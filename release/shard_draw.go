package release

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/release/internal/report"
)

// A shardDraw is the ledger's record of the draw of a shard that may be seen: its part of the report,
// and where it was drawn.
type shardDraw struct {
	Host    string     `json:"host"`
	Time    time.Time  `json:"time"`
	Rows    int64      `json:"rows"`
	Dropped int64      `json:"dropped,omitempty"`
	Pairs   []pairDraw `json:"pairs"`
}

// A pairDraw is the part of the report about a pair of columns: numbers of locations in the squares of
// a map, and of distances. Raw and Moved are those of the owner's section, nil if there is none.
type pairDraw struct {
	Outside  int64  `json:"outside,omitempty"`
	Released []byte `json:"released"`
	Raw      []byte `json:"raw,omitempty"`
	Moved    []byte `json:"moved,omitempty"`
}

// drawNext draws a shard that nobody draws, or waits. It reports whether the shard that this process
// is to publish is published.
func (s *sharding) drawNext(ctx context.Context) (enough bool, err error) {
	if err := s.findWhole(); err != nil {
		return false, err
	}
	if s.only >= 0 {
		if enough, err = s.nameDrawn(ctx, s.only); enough || err != nil {
			return enough, err
		}
	}
	shard, err := s.claim()
	if err != nil {
		return false, err
	}
	if shard < 0 {
		return false, s.idle(ctx)
	}
	defer s.leave()
	if drawn, err := s.nameDrawn(ctx, shard); drawn || err != nil {
		return false, err
	}
	return false, s.draw(ctx, shard)
}

// nameDrawn gives the file of a shard its name, and reports whether it is drawn.
func (s *sharding) nameDrawn(ctx context.Context, shard int) (bool, error) {
	state, err := s.sharded.Shard(shard)
	if err != nil || state.Drawn == nil {
		return false, err
	}
	return true, s.nameShard(ctx, shard, state.Drawn)
}

// nameShard gives the published draw of a shard its name, if nobody has done so.
func (s *sharding) nameShard(ctx context.Context, shard int, a *ledger.Attempt) error {
	if _, done := s.named[shard]; done {
		return nil
	}
	s.report(Publishing)
	err := s.name(ctx, a.File, shardPath(s.spec.Out, s.formats[0], shard, s.n))
	if errors.Is(err, fs.ErrNotExist) {
		var d shardDraw
		_ = json.Unmarshal(a.Info, &d)
		return s.lostError(shard, a, cmp.Or(d.Host, "another process"))
	}
	if err == nil {
		s.named[shard] = struct{}{}
	}
	return err
}

func (s *sharding) report(stage Stage) {
	if s.progress != nil {
		s.progress(Progress{stage, 1, 0})
	}
}

// draw draws a shard into a draft. Only when the ledger has stored that this draw may be seen does
// it get a name that others read; any other draw is removed.
func (s *sharding) draw(ctx context.Context, shard int) error {
	state, err := s.sharded.Shard(shard)
	if err != nil {
		return err
	}
	a := ledger.Attempt{File: s.draft(shardPath(s.spec.Out, s.formats[0], shard, s.n))}
	w, err := s.target.Create(ctx, a.File)
	if err != nil {
		return err
	}
	var d *shardDraw
	if d, a.SHA256, err = s.fillDraft(ctx, w, shard, &state); err == nil {
		if err = w.Close(); err == nil {
			a.Info, err = json.Marshal(d)
		}
	} else {
		abandon(w)
	}
	if err != nil {
		return cmp.Or(err, s.target.Remove(context.WithoutCancel(ctx), a.File))
	}
	stored, err := s.sharded.Publish(shard, a)
	if err != nil {
		return err // the draft stays, since it may be published
	}
	s.working = -1
	if stored.File != a.File {
		s.sum.Lost = append(s.sum.Lost, shard)
		return s.target.Remove(ctx, a.File)
	}
	s.sum.Published = append(s.sum.Published, shard)
	return s.nameShard(ctx, shard, &stored)
}

// fillDraft writes the draw of a shard and returns its hash.
func (s *sharding) fillDraft(ctx context.Context, w io.Writer, shard int, state *ledger.Shard) (*shardDraw, string, error) {
	local, ok := w.(localFile)
	if ok {
		d, err := s.drawInto(ctx, local.File, shard, state)
		if err != nil {
			return nil, "", err
		}
		hash, err := (&file{File: local.File}).syncAndHash()
		return d, hash, err
	}
	temp, err := os.CreateTemp("", "geosql-*"+draftEnding) // 0600
	if err != nil {
		return nil, "", err
	}
	defer os.Remove(temp.Name())
	defer temp.Close()
	d, err := s.drawInto(ctx, temp, shard, state)
	if err != nil {
		return nil, "", err
	}
	h := sha256.New()
	_, err = io.Copy(io.MultiWriter(w, h), io.NewSectionReader(temp, 0, 1<<62))
	return d, hex.EncodeToString(h.Sum(nil)), err
}

// drawInto draws a shard into an empty file. It returns an error unless the shard is as it was when
// it was counted.
func (s *sharding) drawInto(ctx context.Context, to *os.File, shard int, state *ledger.Shard) (*shardDraw, error) {
	var counted shardCount
	if err := json.Unmarshal(state.Info, &counted); err != nil {
		return nil, fmt.Errorf("release %s: the ledger's count of shard %d is damaged: %w", s.id, shard, err)
	}
	if err := s.read(ctx, shard); err != nil {
		return nil, err
	}
	s.whole.setKinds(s.plan)
	allowance, err := s.allowance(shard)
	if err != nil {
		return nil, err
	}
	s.found = &findings{rows: counted.Rows, invalid: counted.Invalid, allowance: allowance}
	s.surveys = newSurveys(s.spec, s.noise())
	out, err := s.formats[0].Create(to, s.plan.schema)
	if err != nil {
		return nil, err
	}
	c, err := s.drawAll(ctx, out, nil)
	if err = cmp.Or(err, out.Close()); err == nil && c.digest.String() != state.Digest {
		err = errChanged
	}
	if err != nil {
		return nil, err
	}
	d := &shardDraw{Host: host(), Time: time.Now().UTC().Truncate(time.Second), Rows: c.kept, Dropped: c.rows - c.kept}
	for k := range s.surveys {
		p, err := s.surveys[k].encode(!s.spec.Publishable)
		if err != nil {
			return nil, err
		}
		d.Pairs = append(d.Pairs, p)
	}
	return d, nil
}

// allowance returns how many rows may be kept of the accounts of a shard that have more, or nil.
func (s *sharding) allowance(shard int) (*allowance, error) {
	if s.spec.MaxRows == 0 {
		return nil, nil
	}
	a := newAllowance()
	for x, err := range s.sharded.Excess(shard, int64(s.spec.MaxRows)) {
		if err != nil {
			return nil, err
		}
		a.allow([]byte(x.Account), x.Evaluations)
	}
	if len(a.left) == 0 {
		return nil, nil
	}
	return a, nil
}

// encode returns the ledger's record of a survey.
func (s *survey) encode(owner bool) (p pairDraw, err error) {
	p.Outside = s.outside
	if p.Released, err = s.released.MarshalBinary(); err != nil || !owner {
		return p, err
	}
	if p.Raw, err = s.raw.MarshalBinary(); err != nil {
		return p, err
	}
	p.Moved, err = s.moves.MarshalBinary()
	return p, err
}

// decode reads it into an empty survey.
func (s *survey) decode(p *pairDraw) error {
	s.outside = p.Outside
	if err := s.released.UnmarshalBinary(p.Released); err != nil || p.Raw == nil {
		return err
	}
	if err := s.raw.UnmarshalBinary(p.Raw); err != nil {
		return err
	}
	return s.moves.UnmarshalBinary(p.Moved)
}

// complete gives all files their names, writes the manifest and the report and ends the release.
// Several processes may do it at a time.
func (s *sharding) complete(ctx context.Context) error {
	s.working = finishing
	var m report.Manifest
	if err := s.gather(ctx, &m); err != nil {
		return err
	}
	d, err := s.reportData([]string{""})
	if err != nil {
		return err
	}
	d.Public.Shards, d.Public.Listed = s.n, filepath.Base(manifestPath(s.spec.Out))
	var manifest, page bytes.Buffer
	if err := report.WriteManifest(&manifest, d.Public, m); err != nil {
		return err
	}
	if err := report.Write(&page, d); err != nil {
		return err
	}
	if err := s.writeWhole(ctx, reportPath(s.spec.Out), page.Bytes()); err != nil {
		return err
	}
	if err := s.writeWhole(ctx, manifestPath(s.spec.Out), manifest.Bytes()); err != nil {
		return err
	}
	if err := s.clean(ctx); err != nil {
		return err
	}
	sum := sha256.Sum256(manifest.Bytes())
	err = s.sharded.Seal(hex.EncodeToString(sum[:]))
	if _, other := errors.AsType[*ledger.ReleaseError](err); other || err == nil {
		return s.reopen()
	}
	return err
}

// gather puts together the ledger's records of the shards, which are all drawn. Unless m is nil
// it also gives the files their names and lists them in m.
func (s *sharding) gather(ctx context.Context, m *report.Manifest) error {
	if err := s.findWhole(); err != nil {
		return err
	}
	whole := *s.whole
	s.found, s.at = &whole, time.Time{}
	s.surveys = newSurveys(s.spec, s.noise())
	shard := 0
	for state, err := range s.sharded.Shards() {
		if err != nil {
			return err
		}
		if err := s.gatherShard(ctx, shard, &state, m); err != nil {
			return err
		}
		shard++
	}
	if m != nil {
		m.Ledger = s.ledger.ID()
		m.ID = s.spec.ID // an ID that is derived from the input could confirm a guess of it
	}
	if err := s.reopen(); err != nil {
		return err
	}
	s.found.payers = s.sharded.Charged()
	s.found.locations -= s.found.dropped * s.each()
	return nil
}

// gatherShard adds a shard to the sums of all.
func (s *sharding) gatherShard(ctx context.Context, shard int, state *ledger.Shard, m *report.Manifest) error {
	if state.Drawn == nil {
		return fmt.Errorf("release %s: the ledger says that all shards are drawn, but shard %d is not", s.id, shard)
	}
	var d shardDraw
	if err := json.Unmarshal(state.Drawn.Info, &d); err != nil || len(d.Pairs) != len(s.surveys) {
		return errors.Join(fmt.Errorf("release %s: the ledger's record of shard %d is damaged", s.id, shard), err)
	}
	if m != nil {
		if err := s.nameShard(ctx, shard, state.Drawn); err != nil {
			return err
		}
		name := filepath.Base(shardPath(s.spec.Out, s.formats[0], shard, s.n))
		m.Files = append(m.Files, report.File{Name: name, Rows: d.Rows, SHA256: state.Drawn.SHA256})
	}
	s.found.dropped += d.Dropped
	if d.Time.After(s.at) {
		s.at = d.Time // so that every process writes the same
	}
	one := newSurveys(s.spec, s.noise())
	for k := range one {
		if err := one[k].decode(&d.Pairs[k]); err != nil {
			return err
		}
		if d.Pairs[k].Raw == nil { // drawn by a process that was to leave out the owner's section
			s.spec.Publishable = true
		}
		s.surveys[k].merge(&one[k])
	}
	return nil
}

// writeWhole writes a file about all shards, unless it is there: every process writes the same.
func (s *sharding) writeWhole(ctx context.Context, path string, text []byte) error {
	if there, err := s.target.Exists(ctx, path); err != nil || there {
		return err
	}
	draft := s.draft(path)
	w, err := s.target.Create(ctx, draft)
	if err != nil {
		return err
	}
	if _, err = w.Write(text); err == nil {
		err = w.Close()
	} else {
		abandon(w)
	}
	if err == nil {
		err = s.name(ctx, draft, path)
	}
	if errors.Is(err, fs.ErrExist) {
		err = nil // another process was first
	}
	return cmp.Or(err, s.target.Remove(context.WithoutCancel(ctx), draft))
}

// clean removes the drafts of processes that were killed, once no draft can be published any more.
func (s *sharding) clean(ctx context.Context) error {
	l, ok := s.target.(Lister)
	if !ok {
		return nil
	}
	stem := s.spec.Out[:len(s.spec.Out)-len(s.formats[0].Extension())]
	names, err := l.List(ctx, stem)
	if err != nil {
		return err
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		return !strings.HasSuffix(name, draftEnding) || !strings.Contains(name, "."+s.draftMark()+"-")
	})
	if s.local() { // some were killed before they could take the name of such a file away
		spills, err := l.List(ctx, filepath.Join(filepath.Dir(s.spec.Out), spillName(s.spec.Out)))
		if err != nil {
			return err
		}
		names = append(names, spills...)
	}
	for _, name := range names {
		if err := s.target.Remove(ctx, name); err != nil {
			return err
		}
	}
	return nil
}
