//go:build heddle

package runtime

// System calls of hdSystem.
const hdLseek, hdPread, hdWaitid = 62, 67, 95
