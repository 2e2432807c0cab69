module heddletest

go 1.24
