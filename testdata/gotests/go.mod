module heddle.example/gotests

go 1.24
