package report

import (
	"encoding/json"
	"io"
)

// A Manifest holds the public facts of a release in several files besides Public. The
// release's ID must not be derived from the input.
type Manifest struct {
	ID     string // "" leaves it out
	Ledger string // its ID
	Files  []File // in the order of the rows
}

// A File is one file of a release.
type File struct {
	Name   string `json:"name"` // without its folder
	Rows   int64  `json:"rows"`
	SHA256 string `json:"sha256"`
}

// manifest is the form of a Manifest in JSON.
type manifest struct {
	metadata
	Release string `json:"release,omitempty"`
	Ledger  string `json:"ledger"`
	Files   []File `json:"files"`
}

// WriteManifest writes the list of the files of a release together with its metadata, in JSON. It
// depends only on its arguments.
func WriteManifest(w io.Writer, p Public, m Manifest) error {
	all := manifest{newMetadata(p), m.ID, m.Ledger, append([]File{}, m.Files...)}
	all.Format = "geosql release in shards 1"
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	return out.Encode(all)
}
