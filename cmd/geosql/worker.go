package main

import (
	"os"

	"github.com/geosql/geosql/serve"
)

// runWorker is the process of a session if geosql serve has started this one as such. The command is not in the help.
func runWorker() {
	if len(os.Args) == 2 && os.Args[1] == "worker" {
		os.Exit(serve.Worker())
	}
}
