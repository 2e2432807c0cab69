package trace

// Running returns the index of the event that tells where a thread was when event number at happened:
// that event or, if it is another thread's, the thread's next one, in whose call it was, or else its
// last one. It returns -1 if the thread has no event.
func Running(events []Event, t ThreadID, at int) int {
	at = max(at, 0)
	for i := at; i < len(events); i++ {
		if events[i].Thread == t {
			return i
		}
	}
	for i := min(at, len(events)) - 1; i >= 0; i-- {
		if events[i].Thread == t {
			return i
		}
	}
	return -1
}
