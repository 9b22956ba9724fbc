//go:build !linux && !darwin && !windows

package turns

import "errors"

const (
	supported = false
	noFollow  = 0
	exclusive = 1
	shared    = 0
)

func clock() int64                               { return 0 }
func (q *Queue) lock(int64, int16) (bool, error) { return false, errors.ErrUnsupported }
func (q *Queue) unlock(int64)                    {}
func (q *Queue) free(int64, int64) bool          { return true }
func (q *Queue) waitFree(int64, int64)           {}
func (q *Queue) close()                          {}
func inRemoval(error) bool                       { return false }
