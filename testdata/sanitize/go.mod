module sanitized

go 1.24
