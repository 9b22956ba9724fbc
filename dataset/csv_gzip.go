package dataset

import (
	"compress/gzip"
	"os"
	"sync"
)

// A gzipWriter writes CSV compressed by gzip. Each batch is a separate member
// (RFC 1952, section 2.2), so that batches are compressed in parallel.
type gzipWriter struct {
	textFile
	csvText
	plain  sync.Pool // of *buffer
	zipper sync.Pool // of *gzip.Writer
}

func createCSVGzip(file *os.File, s Schema) (Writer, error) {
	w := &gzipWriter{textFile: textFile{file: file}, csvText: csvText{s.EscapeFormulas}}
	header, err := w.zip(w.headerLine(s.Fields))
	if err != nil {
		return nil, err
	}
	return w, w.Append(header)
}

func (w *gzipWriter) Encode(rows *Rows) (Block, error) {
	text, _ := w.plain.Get().(*buffer)
	if text == nil {
		text = new(buffer)
	}
	defer w.plain.Put(text)
	text.b = w.appendRows(text.b[:0], rows)
	return w.zip(text.b)
}

func (w *gzipWriter) zip(text []byte) (Block, error) {
	out := w.buffer()
	z, _ := w.zipper.Get().(*gzip.Writer)
	if z == nil {
		z, _ = gzip.NewWriterLevel(out, gzip.BestSpeed) // noise does not compress any better
	} else {
		z.Reset(out)
	}
	defer w.zipper.Put(z)
	if _, err := z.Write(text); err != nil {
		return nil, err
	}
	return out, z.Close()
}
