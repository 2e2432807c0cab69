//go:build heddle

package runtime

// System calls of hdSystem.
const hdLseek, hdPread = 62, 67
