//go:build !linux

package worker

import "time"

// A sandbox drops nothing: only on Linux is it known how.
type sandbox struct{ holds, lacks []string }

func (s *sandbox) restrictFiles(string) {}

func (s *sandbox) enter(Config) { s.lacks = []string{"a sandbox (Linux has one)"} }

func allowProcessorTime(time.Duration) {}
