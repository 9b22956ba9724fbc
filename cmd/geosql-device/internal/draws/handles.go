package draws

import "fmt"

// handles are values that JavaScript holds by number.
type handles[T any] struct {
	values map[uint32]T
	last   uint32
}

// add returns the number of a value.
func (h *handles[T]) add(value T) uint32 {
	if h.values == nil {
		h.values = map[uint32]T{}
	}
	h.last++
	h.values[h.last] = value
	return h.last
}

// get returns the value of a number.
func (h *handles[T]) get(number uint32) (T, error) {
	value, ok := h.values[number]
	if !ok {
		return value, fmt.Errorf("there is no handle %d", number)
	}
	return value, nil
}

// drop forgets a value.
func (h *handles[T]) drop(number uint32) { delete(h.values, number) }
