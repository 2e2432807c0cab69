//go:build heddle

package runtime

// System calls of hdSystem.
const hdLseek, hdPread, hdWaitid = 8, 17, 247
