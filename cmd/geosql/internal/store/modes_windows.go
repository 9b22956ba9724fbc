package store

// HasModes says that files have no modes. Permissions of a folder hold for the files made in it.
const HasModes = false
