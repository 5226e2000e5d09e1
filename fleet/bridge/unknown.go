package bridge

import (
	"player/codec"
)

// In JSON a field that the hardware does not measure is null: programs cannot take it for a number.

// known returns a pointer to a number with a sign, or nil if it is not known.
func known(v int32) *int32 {
	if v == codec.Unknown {
		return nil
	}
	return &v
}

// amount returns a pointer to a number without a sign, or nil if it is not known.
func amount(v uint32) *uint32 {
	if v == codec.UnknownAmount {
		return nil
	}
	return &v
}

// joint is a joint of a servo device.
type joint struct {
	Position *int32 `json:"position"` // in the unit of the joint
	Goal     *int32 `json:"goal"`
	State    uint8  `json:"state"` // bits of PROTOCOL 7.13
}

func imuFields(d *codec.IMUData) any {
	return struct {
		Roll      *int32 `json:"roll_mdeg"`
		Pitch     *int32 `json:"pitch_mdeg"`
		Yaw       *int32 `json:"yaw_mdeg"`
		RollRate  *int32 `json:"roll_rate_mdeg_per_s"`
		PitchRate *int32 `json:"pitch_rate_mdeg_per_s"`
		YawRate   *int32 `json:"yaw_rate_mdeg_per_s"`
		X         *int32 `json:"x_mm_per_s2"`
		Y         *int32 `json:"y_mm_per_s2"`
		Z         *int32 `json:"z_mm_per_s2"`
	}{known(d.Roll), known(d.Pitch), known(d.Yaw), known(d.RollRate), known(d.PitchRate), known(d.YawRate), known(d.X), known(d.Y), known(d.Z)}
}

func gpsFields(d *codec.GPSData) any {
	f := struct {
		Fix        *codec.Fix `json:"fix"`
		Satellites *uint8     `json:"satellites"`
		Latitude   *int32     `json:"latitude_e7"`
		Longitude  *int32     `json:"longitude_e7"`
		Height     *int32     `json:"height_mm"`
		Horizontal *uint32    `json:"horizontal_mm"`
		Vertical   *uint32    `json:"vertical_mm"`
		Time       *uint64    `json:"time_ms"`
		Speed      *uint32    `json:"speed_mm_per_s"`
		Course     *uint32    `json:"course_mdeg"`
	}{Latitude: known(d.Latitude), Longitude: known(d.Longitude), Height: known(d.Height), Horizontal: amount(d.Horizontal),
		Vertical: amount(d.Vertical), Speed: amount(d.Speed), Course: amount(d.Course)}
	if d.Fix != codec.UnknownFix {
		f.Fix = &d.Fix
	}
	if d.Satellites != codec.UnknownSatellites {
		f.Satellites = &d.Satellites
	}
	if d.Time != 0 {
		f.Time = &d.Time
	}
	return f
}

func gotoFields(d *codec.GotoData) any {
	shown := struct {
		State    codec.GotoState  `json:"state"`
		Reason   codec.GotoReason `json:"reason"`
		Tag      uint16           `json:"tag"`
		X        *int32           `json:"x_mm"`
		Y        *int32           `json:"y_mm"`
		Heading  *uint16          `json:"heading_deg"`
		Distance *uint32          `json:"distance_mm"`
	}{d.State, d.Reason, d.Tag, known(d.X), known(d.Y), &d.Heading, amount(d.Distance)}
	if d.Heading == codec.AnyHeading {
		shown.Heading = nil
	}
	return shown
}
