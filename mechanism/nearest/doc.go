// Package nearest moves secrets to the nearest ones that may be sealed or released: readings to the values of their universe,
// locations to the box of their domain. It imports nothing but math, so that a device can, in a module of WebAssembly that
// has room for little else.
package nearest
