package programs

import (
	"fmt"
	"io"
	"net"
	"net/http"
)

// Downloader fetches pages from a server on the loopback interface with two workers that
// share a list of what is to do, a count of bytes and a log of what is done. The server is
// not part of what is recorded.
func Downloader(main *Thread) {
	const pages, workers = 24, 2
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var page, size int
		fmt.Sscanf(r.URL.Path, "/page%d", &page)
		size = 1000 + 700*page
		w.Write(make([]byte, size))
	})}
	go server.Serve(listener)
	defer server.Close()
	base := "http://" + listener.Addr().String()

	next := main.NewVar(0) // guarded by todo
	todo := main.NewMutex()
	bytes := main.NewVar(0) // guarded by done
	progress := main.NewVars(workers)
	log := main.NewVars(pages)
	done := main.NewMutex()
	buffers := [workers][]*Var{main.NewVars(4), main.NewVars(4)} // each worker's own
	client := &http.Client{}
	var threads []*Thread
	for w := range workers {
		threads = append(threads, main.Go(func(t *Thread) {
			for {
				todo.Lock(t)
				page := next.Get(t)
				if page == pages {
					todo.Unlock(t)
					return
				}
				next.Set(t, page+1)
				todo.Unlock(t)
				resp, err := client.Get(fmt.Sprintf("%s/page%d", base, page))
				if err != nil {
					panic(err)
				}
				chunk := make([]byte, 1024)
				size := int64(0)
				for i := 0; ; i++ {
					n, err := resp.Body.Read(chunk)
					size += int64(n)
					buffers[w][i%4].Set(t, int64(n))
					progress[w].Set(t, progress[w].Get(t)+int64(n))
					if err == io.EOF {
						break
					} else if err != nil {
						panic(err)
					}
				}
				resp.Body.Close()
				done.Lock(t)
				bytes.Set(t, bytes.Get(t)+size)
				log[page].Set(t, size)
				done.Unlock(t)
			}
		}))
	}
	for _, t := range threads {
		main.Join(t)
	}
	sum := int64(0)
	for _, v := range log {
		sum += v.Get(main)
	}
	if sum != bytes.Get(main) {
		panic("bytes are missing")
	}
}
