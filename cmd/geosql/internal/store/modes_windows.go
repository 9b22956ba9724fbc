package store

// HasModes says that files have no modes. Whoever may read a folder may read what is made in it.
const HasModes = false
