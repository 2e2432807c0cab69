module sanitized

go 1.22
