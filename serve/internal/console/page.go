package console

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"
)

//go:embed page
var pageFiles embed.FS

// An asset is a file of the page.
type asset struct {
	kind, tag string
	content   []byte
}

// assets returns the files of the page by their path.
var assets = sync.OnceValue(func() map[string]asset {
	all := map[string]asset{}
	err := fs.WalkDir(pageFiles, "page", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := pageFiles.ReadFile(name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(content)
		all["/"+strings.TrimPrefix(name, "page/")] = asset{kinds[path.Ext(name)], `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`, content}
		return nil
	})
	if err != nil {
		panic(err) // embedded files can be read
	}
	all["/"] = all["/index.html"]
	return all
})

// kinds are the types of the page's files. The table of the machine may have others.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

func (s *Server) servePage(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		http.Error(w, "The page can only be read.", http.StatusMethodNotAllowed)
		return
	}
	a, found := assets()[r.URL.Path]
	if !found {
		http.Error(w, "There is no such page. The console is at /", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", a.kind)
	w.Header().Set("ETag", a.tag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(a.content))
}
