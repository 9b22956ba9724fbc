// Command pictures draws the pictures of the documentation, from the laws of the mechanisms and from measurements of
// benchmarks, into the folder docs/pictures:
//
//	go run ./docs/pictures
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// pictures holds the pictures by the names of their files.
var pictures = map[string]func() (string, error){
	"answers.svg":                    answers,
	"noise-on-a-map.svg":             noiseOnAMap,
	"error-against-epsilon.svg":      errorAgainstEpsilon,
	"sum-error-against-epsilon.svg":  sumErrorAgainstEpsilon,
	"sum-error-against-universe.svg": sumErrorAgainstUniverse,
	"cut-against-universe.svg":       cutAgainstUniverse,
	"recovered-density.svg":          recoveredDensity,
	"heat-maps.svg":                  heatMaps,
	"belief.svg":                     belief,
	"chain-of-a-charge.svg":          chainOfACharge,
	"sealed-roles.svg":               sealedRoles,
	"secret-of-a-statement.svg":      secretOfAStatement,
	"growth.svg":                     growth,
	"smoothed-trace.svg":             smoothedTrace,
}

func main() {
	for name, draw := range pictures {
		picture, err := draw()
		if err == nil {
			err = os.WriteFile(filepath.Join("docs", "pictures", name), []byte(picture), 0o644)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "pictures:", err)
			os.Exit(1)
		}
	}
}
