package programs

// Program is one of the four.
type Program struct {
	Name  string // as in the paper
	Run   func(*Thread)
	Yield float64 // chance of a switch after an operation that makes about the paper's number
}

// All are the programs, in the order of the paper's table.
var All = []Program{
	{"CPhilo", Philosophers, 0.3},
	{"CMerge", MergeSort, 0.25},
	{"CTSP", TSP, 0.5},
	{"CWebDow", Downloader, 0.4},
}
