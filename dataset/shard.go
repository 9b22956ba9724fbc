package dataset

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// Shards are the parts of a file that are read one by one. Every row is in one of them, and their
// order is that of the rows. They may have different numbers of rows, and none.
type Shards struct {
	path   string
	size   int64
	sha256 string
	parts  []csvPart // of a CSV file; nil for Parquet
	groups int       // of a Parquet file
	n      int
}

// A csvPart is a part of a CSV file that begins and ends at the beginning of a line, or at the end
// of the file.
type csvPart struct {
	start, end int64 // bytes
	lines      int64 // before it
}

// OpenShards divides a file into n shards. It reads all of the file. In CSV, shard i has the lines
// that begin in bytes size*i/n to size*(i+1)/n of the file; in Parquet, a share of the groups of
// rows. Other files are refused, and so is CSV with a line break in quotes where a shard would
// begin.
func OpenShards(ctx context.Context, path string, n int) (*Shards, error) {
	s := &Shards{path: path, n: n}
	r, err := Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	switch r := r.(type) {
	case *csvReader:
		err = s.divideCSV(r)
		if err == nil {
			err = s.readCSV(ctx, r.file)
		}
	case *parquetReader:
		err = s.divideParquet(r)
		if err == nil {
			s.sha256, err = readAll(ctx, r.file, func([]byte) {})
		}
	default:
		err = errors.New("tables of a database cannot be released in shards: export the table to a .csv or .parquet file")
	}
	if err != nil {
		return nil, wrap(path, err)
	}
	return s, nil
}

// SHA256 returns the hash of the file's bytes, in hexadecimal.
func (s *Shards) SHA256() string { return s.sha256 }

// Len returns the number of shards.
func (s *Shards) Len() int { return s.n }

// Open opens a shard as [Open] opens the file. The places of its rows are those in the file.
func (s *Shards) Open(ctx context.Context, shard int) (Reader, error) {
	r, err := Open(ctx, s.path)
	if err != nil {
		return nil, err
	}
	switch r := r.(type) {
	case *csvReader:
		if err = s.checkSize(r.size); err == nil {
			r.part = &s.parts[shard]
		}
	case *parquetReader:
		var groups []parquet.RowGroup
		if groups = r.parquet.RowGroups(); len(groups) != s.groups {
			err = errFileChanged
		} else {
			r.take(s.share(len(groups), shard), s.share(len(groups), shard+1))
		}
	}
	if err != nil {
		r.Close()
		return nil, wrap(s.path, err)
	}
	return r, nil
}

var errFileChanged = errors.New("the file has changed")

func (s *Shards) checkSize(size int64) error {
	if size != s.size {
		return errFileChanged
	}
	return nil
}

// share returns where shard i begins among n things.
func (s *Shards) share(n, i int) int { return int(s.boundary(int64(n), i)) }

// boundary returns size*i/n.
func (s *Shards) boundary(size int64, i int) int64 {
	n := int64(s.n)
	return size/n*int64(i) + size%n*int64(i)/n
}

func (s *Shards) divideParquet(r *parquetReader) error {
	s.groups = len(r.parquet.RowGroups())
	if s.n > max(s.groups, 1) {
		return fmt.Errorf("the file has %d groups of rows, so it can be released in at most %d shards", s.groups, max(s.groups, 1))
	}
	return nil
}

// divideCSV sets where the parts of a CSV file begin and end. The reader has read the header line.
func (s *Shards) divideCSV(r *csvReader) error {
	head := make([]byte, 3)
	n, err := r.file.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return err
	}
	if bytes.HasPrefix(head[:n], []byte("\x1f\x8b")) || strings.HasSuffix(strings.ToLower(s.path), ".gz") {
		return errors.New("a compressed file cannot be released in shards, since it is read from its beginning only: decompress it first")
	}
	first := r.split.offset()
	if string(head[:n]) == "\uFEFF" {
		first += int64(n)
	}
	s.size = r.size
	s.parts = make([]csvPart, s.n)
	start := first
	for i := range s.parts {
		s.parts[i].start = start
		if b := s.boundary(s.size, i+1); b > start {
			if start, err = nextLine(r.file, b, s.size); err != nil {
				return err
			}
		}
		s.parts[i].end = start
	}
	return nil
}

// nextLine returns where the first line begins at or after an offset, or the size of the file.
func nextLine(file io.ReaderAt, offset, size int64) (int64, error) {
	room := make([]byte, 1<<12)
	for at := offset - 1; at < size; {
		n, err := file.ReadAt(room, at)
		if i := bytes.IndexByte(room[:n], '\n'); i >= 0 {
			return at + int64(i) + 1, nil
		}
		if err != nil && err != io.EOF || n == 0 {
			return 0, errors.Join(err, errFileChanged)
		}
		at += int64(n)
	}
	return size, nil
}

// readCSV computes the hash of a CSV file and counts the lines before each part. It returns an
// error if a part begins in quotes.
func (s *Shards) readCSV(ctx context.Context, file *os.File) (err error) {
	var at, lines int64
	quotes, part := 0, 0
	inQuotes := -1
	count := func(text []byte) {
		quotes += bytes.Count(text, []byte{'"'})
		lines += int64(bytes.Count(text, []byte{'\n'}))
		at += int64(len(text))
	}
	s.sha256, err = readAll(ctx, file, func(text []byte) {
		for ; part < len(s.parts) && s.parts[part].start <= at+int64(len(text)); part++ {
			n := s.parts[part].start - at
			count(text[:n])
			text = text[n:]
			s.parts[part].lines = lines
			if quotes%2 != 0 && inQuotes < 0 && s.parts[part].start < s.size {
				inQuotes = part
			}
		}
		count(text)
	})
	switch {
	case err != nil:
		return err
	case at != s.size:
		return errFileChanged
	case inQuotes >= 0:
		return fmt.Errorf("shard %d would begin at line %d, inside quotes: a file with line breaks in quotes cannot be divided there; write the file without them, or as Parquet",
			inQuotes, s.parts[inQuotes].lines+1)
	}
	return nil
}

// readAll passes on all of a file and returns its SHA-256 in hexadecimal.
func readAll(ctx context.Context, file *os.File, pass func([]byte)) (string, error) {
	h := sha256.New()
	room := make([]byte, 1<<20)
	for at := int64(0); ; {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		n, err := file.ReadAt(room, at)
		h.Write(room[:n])
		pass(room[:n])
		at += int64(n)
		if err == io.EOF {
			return hex.EncodeToString(h.Sum(nil)), nil
		}
		if err != nil {
			return "", err
		}
	}
}
