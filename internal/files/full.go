package files

// leastRoom is how many bytes of room a disk has at least that is not full: some writes may still find room below it.
const leastRoom = 256 << 10

// IsFull reports whether so much room, as [Room] returns it, is too little to rely on.
func IsFull(room int64) bool { return 0 <= room && room < leastRoom }
