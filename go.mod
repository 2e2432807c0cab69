module github.com/heddle-dev/heddle

go 1.25.0
