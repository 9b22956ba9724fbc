package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var coloured = regexp.MustCompile(` (?:fill|stroke)="(#[^"]*)"`)

// The pictures of the pages are the program's, small and well formed.
func TestPicturesAreCurrent(t *testing.T) {
	files, err := filepath.Glob("*.svg")
	if err != nil || len(files) != len(pictures) {
		t.Errorf("there are %q and %d are drawn: %v", files, len(pictures), err)
	}
	for name, draw := range pictures {
		want, err := draw()
		if err != nil {
			t.Fatal(err)
		}
		if have, err := os.ReadFile(name); err != nil || string(have) != want {
			t.Errorf("%s is not what is drawn; run go run ./docs/pictures (%v)", name, err)
		}
		if len(want) > 64<<10 {
			t.Errorf("%s has %d bytes", name, len(want))
		}
		for _, colour := range coloured.FindAllStringSubmatch(want, -1) {
			if dark[colour[1]] == "" {
				t.Errorf("%s has no colour in place of %s on a dark page", name, colour[1])
			}
		}
		for decoder := xml.NewDecoder(strings.NewReader(want)); ; {
			if _, err := decoder.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
}
