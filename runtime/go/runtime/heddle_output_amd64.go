//go:build heddle

package runtime

// System calls of hdSystem.
const hdLseek, hdPread = 8, 17
